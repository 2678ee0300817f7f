// SPDX-License-Identifier: GPL-2.0-or-later
// parquet.cjs: do hyparquet and arrow-rs see the rows of the JSON? Lines of standard input are
// FILE.parquet FILE.json.
const fs = require('fs')
const { createRequire } = require('module')
const req = createRequire(process.env.NODE_PATH + '/')
const files = fs.readFileSync(0, 'utf8').trim().split('\n').map(line => line.split(' '))

function text(v) {
  if (v === null || v === undefined) return null
  if (Array.isArray(v)) return v.every(x => typeof x === 'string') ? v.join(',') : String(v.length)
  return String(v)
}

// Addresses are hexadecimal in JSON alone, and its numbers have one form.
function same(a, b) {
  const x = text(a), y = text(b)
  return x === y || (x !== null && y !== null && y !== '' && (typeof a === 'bigint' ?
    BigInt.asUintN(64, a) === BigInt.asUintN(64, BigInt(y)) : Number(x) === Number(y)))
}

function verdict(rows, wanted) {
  if (rows.length !== wanted.length) return `${rows.length} rows, not ${wanted.length}`
  for (let i = 0; i < rows.length; i++)
    for (const key of Object.keys(wanted[i]))
      if (!same(rows[i][key], wanted[i][key]))
        return `row ${i}, ${key}: ${text(rows[i][key])}, not ${text(wanted[i][key])}`
  return 'same'
}

async function main() {
  const { parquetReadObjects } = await import(req.resolve('hyparquet'))
  const { compressors } = await import(req.resolve('hyparquet-compressors'))
  const { readParquet } = req('parquet-wasm/node')
  const { tableFromIPC } = req('apache-arrow')
  const own = new Set(), arrow = new Set()

  for (const [parquet, json] of files) {
    const bytes = fs.readFileSync(parquet)
    const wanted = JSON.parse(fs.readFileSync(json, 'utf8'))
    const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)
    own.add(verdict(await parquetReadObjects({ file, compressors }), wanted))
    const table = tableFromIPC(readParquet(new Uint8Array(bytes)).intoIPCStream())
    const names = table.schema.fields.map(f => f.name)
    const rows = []
    for (const r of table) rows.push(Object.fromEntries(names.map(n => [n, r[n]])))
    arrow.add(verdict(rows, wanted))
  }
  console.log(`${files.length} files: hyparquet ${[...own].join('; ')}, ` +
    `arrow ${[...arrow].join('; ')}`)
}

main()
