// Who calls whom in a WebAssembly module, read from its bytes.

class Bytes {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }
  byte() { return this.bytes[this.at++]; }
  /** LEB128, unsigned. */
  count() {
    let value = 0, scale = 1, byte;
    do {
      byte = this.byte();
      value += (byte & 127) * scale;
      scale *= 128;
    } while (byte & 128);
    return value;
  }
  /** LEB128, signed; of 64 bits only the length matters. */
  integer() {
    let value = 0, shift = 0, byte;
    do {
      byte = this.byte();
      if (shift < 32) value |= (byte & 127) << shift;
      shift += 7;
    } while (byte & 128);
    if (shift < 32 && byte & 64) value |= -1 << shift;
    return value;
  }
  text() {
    const length = this.count();
    this.at += length;
    return new TextDecoder().decode(this.bytes.subarray(this.at - length, this.at));
  }
  many(read) { return Array.from({ length: this.count() }, read); }
}

const kNoOperand = 0, kCount = 1, kTwoCounts = 2, kByte = 3;
/** Operands of instructions without a case of their own below. */
function operandsOf(code) {
  if ((code >= 0x0c && code <= 0x0d) || (code >= 0x20 && code <= 0x26) || code === 0xd2) return kCount;
  if (code >= 0x28 && code <= 0x3e) return kTwoCounts;
  if (code === 0x3f || code === 0x40 || code === 0xd0) return kByte;
  if (code <= 0x01 || code === 0x05 || code === 0x0b || code === 0x0f || code === 0x1a || code === 0x1b
    || (code >= 0x45 && code <= 0xc4) || code === 0xd1) return kNoOperand;
  throw new Error(`an instruction ${code} that is not known here`);
}

/** Whether an instruction computes with the number before it, so that this is no function's place:
 *  comparisons, sums, products, shifts, and copies of so many bytes. */
const computes = (code) =>
  (code >= 0x45 && code <= 0x4f) || (code >= 0x6a && code <= 0x78) || code === 0xfc;

/** Reads one function's body: calls(index), constant(n, followed by an instruction that computes with
 *  it, or the function that is called with it as its last argument), and offset(n) of loads and
 *  stores. */
function readBody(bytes, end, { calls, constant, offset }) {
  bytes.many(() => { bytes.count(); bytes.byte(); });  // its variables
  while (bytes.at < end) {
    const code = bytes.byte();
    switch (code) {
      case 0x02: case 0x03: case 0x04: bytes.integer(); break;
      case 0x0e: bytes.many(() => bytes.count()); bytes.count(); break;
      case 0x10: calls(bytes.count()); break;
      case 0x11: bytes.count(); bytes.count(); break;
      case 0x1c: bytes.many(() => bytes.byte()); break;
      case 0x41: {
        const number = bytes.integer(), behind = bytes.at;
        const next = bytes.byte();
        constant(number, computes(next), next === 0x10 ? bytes.count() : -1);
        bytes.at = behind;
        break;
      }
      case 0x42: bytes.integer(); break;
      case 0x43: bytes.at += 4; break;
      case 0x44: bytes.at += 8; break;
      case 0xfc: {
        const more = bytes.count();
        if (more >= 8) bytes.count();
        if ([8, 10, 12, 14].includes(more)) bytes.count();
        break;
      }
      case 0xfd: {
        const more = bytes.count();
        const memory = more <= 11 || (more >= 84 && more <= 93);
        if (memory) { bytes.count(); offset(bytes.count()); }
        if (more === 12 || more === 13) bytes.at += 16;
        if ((more >= 21 && more <= 34) || (more >= 84 && more <= 91)) bytes.at += 1;
        break;
      }
      default: {
        const operands = operandsOf(code);
        if (operands === kByte) bytes.at += 1;
        else if (operands === kCount) bytes.count();
        else if (operands === kTwoCounts) { bytes.count(); offset(bytes.count()); }
      }
    }
  }
  if (bytes.at !== end) throw new Error('a function was not understood');
}

const kSmall_bytes = 64;
/** Their last argument is a size, never a function's place. */
const kTakeSizes = /^(operator new|operator delete|(dl)?(malloc|calloc|realloc)|_*mem(cpy|move|set|cmp))\b/;
/** Names have signs that WebAssembly's text does not allow as \\28. */
const plain = (name) => name.replace(/\\([0-9a-f]{2})/g, (_, hex) => String.fromCharCode(parseInt(hex, 16)));

/** {importCount, exports: [[name, index]], names: Map, functions: Map of {calls, addresses},
 *  inPlainData, withoutNames()}. `addresses` are functions whose place in the table is a number in
 *  that function, or in a row of places that it names: some more than there are, never less.
 *  `inPlainData`: those whose place is elsewhere in the data. */
export function readModule(file) {
  const bytes = new Bytes(file);
  bytes.at = 8;
  const module = { importCount: 0, exports: [], names: new Map(), functions: new Map() };
  const table = new Map();  // place → function
  const data = [];          // [address, bytes]
  const bodies = [];
  const sections = [];
  while (bytes.at < file.length) {
    const begin = bytes.at;
    const id = bytes.byte();
    const end = bytes.count() + bytes.at;
    let name = '';
    if (id === 0) {
      name = bytes.text();
      if (name === 'name')
        while (bytes.at < end) {
          const kind = bytes.byte();
          const next = bytes.count() + bytes.at;
          if (kind === 1) bytes.many(() => module.names.set(bytes.count(), plain(bytes.text())));
          bytes.at = next;
        }
    } else if (id === 2) {
      bytes.many(() => {
        bytes.text();
        bytes.text();
        const kind = bytes.byte();
        if (kind === 0) { bytes.count(); module.importCount += 1; return; }
        if (kind === 1 || kind === 3) bytes.byte();
        if (kind === 3) { bytes.byte(); return; }
        const bounded = bytes.byte() & 1;
        bytes.count();
        if (bounded) bytes.count();
      });
    } else if (id === 7) {
      bytes.many(() => {
        const text = bytes.text();
        const kind = bytes.byte(), index = bytes.count();
        if (kind === 0) module.exports.push([text, index]);
      });
    } else if (id === 8) {
      module.exports.push(['', bytes.count()]);  // the start function
    } else if (id === 9) {
      bytes.many(() => {
        if (bytes.count() !== 0) throw new Error('a table that is not known here');
        bytes.byte();
        let place = bytes.integer();
        bytes.byte();
        bytes.many(() => table.set(place++, bytes.count()));
      });
    } else if (id === 10) {
      bytes.many(() => {
        const size = bytes.count();
        bodies.push([bytes.at, bytes.at + size]);
        bytes.at += size;
      });
    } else if (id === 11) {
      bytes.many(() => {
        if (bytes.count() !== 0) throw new Error('data that is not known here');
        bytes.byte();
        const address = bytes.integer();
        bytes.byte();
        const size = bytes.count();
        data.push([address, file.subarray(bytes.at, bytes.at + size)]);
        bytes.at += size;
      });
    }
    bytes.at = end;
    sections.push([id, name, begin, end]);
  }

  // Rows of places in the table: tables of virtual functions, and of what variants hold. Who has the
  // address of one place reaches all that follow.
  const rows = new Map();  // address of each place → functions from there on
  const pointers = new Set();
  // All segments as one: binaryen leaves zeros out between them, also those of a word.
  const begin = 4 * Math.floor(Math.min(...data.map(([address]) => address)) / 4);
  const end = Math.max(...data.map(([address, content]) => address + content.length));
  const memory = new Uint8Array(4 * Math.ceil((end - begin) / 4));
  for (const [address, content] of data) memory.set(content, address - begin);
  const view = new DataView(memory.buffer);
  const isAddress = (word) => word % 4 === 0 && word >= begin && word < end;
  let row = null;
  for (let at = 0; at < memory.length; at += 4) {
    const word = view.getUint32(at, true);
    pointers.add(word);
    if (!table.has(word)) { row = null; continue; }
    // A table of virtual functions follows a 0 and the address of its class's description.
    row ??= { first: begin + at, functions: [], isVirtual: at >= 8
      && view.getUint32(at - 8, true) === 0 && isAddress(view.getUint32(at - 4, true)) };
    row.functions.push(table.get(word));
    rows.set(begin + at, { row, from: row.functions.length - 1 });
  }
  const numbers = bodies.map(([start, stop]) => {
    const found = { calls: new Set(), constants: new Set(), places: new Set(), offsets: new Set() };
    bytes.at = start;
    readBody(bytes, stop, {
      calls: (index) => found.calls.add(index),
      constant: (number, computed, callee) => {
        found.constants.add(number >>> 0);
        if (!computed && !kTakeSizes.test(module.names.get(callee) ?? '')) found.places.add(number >>> 0);
      },
      offset: (number) => found.offsets.add(number),
    });
    return found;
  });
  const named = new Set();  // places that code names
  for (const { constants, offsets } of numbers)
    for (const number of [...constants, ...offsets]) if (rows.has(number)) named.add(number);
  // A virtual function is called by its row alone: a number that is also its place says nothing. (But
  // binaryen makes one of small functions that are alike, virtual or not.)
  const virtual = new Set();
  module.inPlainData = new Set();
  for (const { row } of rows.values()) {
    if (row.seen) continue;
    row.seen = true;
    let byCode = false, byData = false;
    row.functions.forEach((index, i) => {
      byCode ||= named.has(row.first + 4 * i);
      byData ||= pointers.has(row.first + 4 * i);
      if (!byCode || byData) module.inPlainData.add(index);
      else if (row.isVirtual) virtual.add(index);
    });
  }
  const isVirtual = (index) => {
    const [start, stop] = bodies[index - module.importCount] ?? [0, 0];
    return stop - start > kSmall_bytes && virtual.has(index);
  };
  // So is what a std::function holds: small ones, too, where they are the only way to one of ours.
  const name = (index) => module.names.get(index) ?? '';
  const isHeld = (index) => /^std::__[0-9]+::__function::__func</.test(name(index))
    && [...numbers[index - module.importCount]?.calls ?? []].some((i) => /^derm::/.test(name(i)));
  numbers.forEach(({ calls, constants, places, offsets }, i) => {
    const addresses = new Set();
    for (const number of places)
      if (table.has(number) && !isVirtual(table.get(number)) && !isHeld(table.get(number)))
        addresses.add(table.get(number));
    for (const number of [...constants, ...offsets]) {
      const at = rows.get(number);
      at?.row.functions.slice(at.from).forEach((index) => addresses.add(index));
    }
    module.functions.set(module.importCount + i, { calls, addresses });
  });
  module.withoutNames = () => Buffer.concat([file.subarray(0, 8),
    ...sections.filter(([, name]) => name !== 'name').map(([, , begin, end]) => file.subarray(begin, end))]);
  return module;
}
