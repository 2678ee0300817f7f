// SPDX-License-Identifier: GPL-2.0-or-later
// parquet_rows.cjs: does DuckDB see the rows of the CSV? Lines of standard input are
// FILE.parquet FILE.csv FILE.json.
// An empty cell of CSV is n/a, or no word of a list; which of them, JSON says.
const fs = require('fs')
const { createRequire } = require('module')
const req = createRequire(process.env.NODE_PATH + '/')
const files = fs.readFileSync(0, 'utf8').trim().split('\n').map(line => line.split(' '))

// Cells as { text, quoted }, in rows (RFC 4180).
function parseCsv(text) {
  const rows = []
  let row = [], at = 0
  while (at < text.length) {
    const quoted = text[at] === '"'
    let cell = ''
    if (quoted)
      for (at++; ; at++) {
        const end = text.indexOf('"', at)
        cell += text.slice(at, end)
        at = end + 1
        if (text[at] !== '"') break
        cell += '"'
      }
    while (text[at] !== ',' && text[at] !== '\n') cell += text[at++]
    row.push({ text: cell, quoted })
    if (text[at++] === '\n') {
      rows.push(row)
      row = []
    }
  }
  return rows
}

// A cell as a value of the type of DuckDB; `there`: JSON has a value.
function value(cell, type, there) {
  if (!cell.text && !cell.quoted) return there ? '' : null
  switch (type) {
  case 'VARCHAR':
    // What a spreadsheet would take for a formula is guarded by an apostrophe.
    return cell.quoted && /^'+[=+\-@\t\r]/.test(cell.text) ? cell.text.slice(1) : cell.text
  // All addresses have no sign, and no other number.
  case 'UBIGINT':
  case 'BIGINT':
    if (cell.text.startsWith('0x') !== (type === 'UBIGINT')) throw new Error(`${cell.text} is ${type}`)
    return BigInt(cell.text)
  case 'DOUBLE':
    return Number(cell.text)
  case 'TIMESTAMP WITH TIME ZONE': {
    const [, second, micros] = cell.text.match(/^(.*)\.(\d{6})Z$/)
    return BigInt(Date.parse(second + 'Z')) * 1000n + BigInt(micros)
  }
  }
  throw new Error(`no such type: ${type}`)
}

async function verdict(connection, parquet, csv, json) {
  const [head, ...cells] = parseCsv(fs.readFileSync(csv, 'utf8'))
  const there = JSON.parse(fs.readFileSync(json, 'utf8'))
  const read = await connection.runAndReadAll(`SELECT * FROM read_parquet('${parquet}')`)
  const names = read.columnNames(), types = read.columnTypes().map(String)
  const rows = read.getRows()
  if (names.join() !== head.map(c => c.text).join()) return `columns ${names}`
  if (rows.length !== cells.length) return `${rows.length} rows, not ${cells.length}`
  for (let i = 0; i < rows.length; i++)
    for (let j = 0; j < names.length; j++) {
      const wanted = value(cells[i][j], types[j], there[i][names[j]] !== null)
      const got = rows[i][j]?.micros ?? rows[i][j]
      if (got !== wanted) return `row ${i}, ${names[j]}: ${got}, not ${wanted}`
    }
  return 'same'
}

async function main() {
  const { DuckDBInstance } = req('@duckdb/node-api')
  const connection = await (await DuckDBInstance.create(':memory:')).connect()
  const verdicts = new Set()
  for (const [parquet, csv, json] of files) {
    const v = await verdict(connection, parquet, csv, json)
    verdicts.add(v === 'same' ? v : `${parquet}: ${v}`)
  }
  console.log(`${files.length} files: ${[...verdicts].join('; ')}`)
}

main().catch(e => { console.error(e); process.exit(1) })
