// SPDX-License-Identifier: GPL-2.0-or-later
// fleet.cjs FILE.md: runs the SQL of a page in DuckDB; prints the rows of each SELECT as
// CSV, and an empty line behind each. With a second argument, that is the SQL.
const fs = require('fs')
const { createRequire } = require('module')
const req = createRequire(process.env.NODE_PATH + '/')

function text(v) {
  if (v === null) return ''
  return typeof v === 'object' ? v.toString() : String(v)
}

async function main() {
  const { DuckDBInstance } = req('@duckdb/node-api')
  const connection = await (await DuckDBInstance.create(':memory:')).connect()
  const page = fs.readFileSync(process.argv[2], 'utf8')
  const blocks = [...page.matchAll(/^ *```sql\n([^]*?)^ *```/gm)].map(m => m[1])

  if (process.argv[3]) blocks.splice(1, blocks.length, process.argv[3])
  for (const block of blocks)
    for (const sql of block.split(';').filter(s => s.trim())) {
      const result = await connection.runAndReadAll(sql)
      if (/^\s*CREATE/.test(sql)) continue
      for (const row of result.getRows()) console.log(row.map(text).join(','))
      console.log()
    }
}

main().catch(e => { console.error(e); process.exit(1) })
