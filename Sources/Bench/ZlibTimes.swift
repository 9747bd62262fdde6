// SPDX-License-Identifier: Apache-2.0
import CZlib
import Foundation
import Terminal

/// The processor time that zlib takes for a published key file.
///
/// zlib does not change with this project, so a figure divided by it can be compared with that of another machine that
/// has the same version.
package struct ZlibTimes: Codable, Sendable {
  /// The nanoseconds by key to deflate the export at level 6.
  package let deflateNanoseconds: Double
  /// The nanoseconds by key to inflate the export.
  package let inflateNanoseconds: Double

  private static let level: Int32 = 6
  private static let rounds = 3
  /// Without the header of a zlib stream, as in a zip.
  private static let rawWindowBits = -MAX_WBITS

  package init(deflateNanoseconds: Double, inflateNanoseconds: Double) {
    self.deflateNanoseconds = deflateNanoseconds
    self.inflateNanoseconds = inflateNanoseconds
  }

  /// Measures the first entry of `zip`, the export with `keyCount` keys: the median of some rounds.
  ///
  /// - Throws: `CommandFailure` if zlib cannot inflate the entry; an error of Foundation if the file cannot be read.
  init(ofFirstEntryOf zip: URL, keyCount: Int) throws {
    let entry = try DeflatedEntry(try Data(contentsOf: zip))
    var content = [UInt8](repeating: 0, count: entry.byteCount)
    // As much as zlib needs for bytes that it cannot deflate.
    var deflated = [UInt8](repeating: 0, count: Int(compressBound(uLong(content.count))))
    var (inflating, deflating): ([Double], [Double]) = ([], [])
    for _ in 0..<Self.rounds {
      inflating.append(try Self.nanoseconds { try Self.inflate(entry.bytes, into: &content) })
      deflating.append(try Self.nanoseconds { try Self.deflate(content, into: &deflated) })
    }
    func byKey(_ times: [Double]) -> Double {
      (Distribution(times).median / Double(keyCount)).rounded(to: 1)
    }
    self.init(deflateNanoseconds: byKey(deflating), inflateNanoseconds: byKey(inflating))
  }

  private static func nanoseconds(_ work: () throws -> Void) rethrows -> Double {
    try ElapsedTime.measure(work).time.cpu / .nanoseconds(1)
  }

  private static func inflate(_ deflated: [UInt8], into content: inout [UInt8]) throws {
    try withStream { stream in
      let size = Int32(MemoryLayout<z_stream>.size)
      guard inflateInit2_(stream, rawWindowBits, ZLIB_VERSION, size) == Z_OK else {
        throw failure("inflate")
      }
      defer { inflateEnd(stream) }
      try run("inflate", stream, from: deflated, into: &content, CZlib.inflate)
    }
  }

  private static func deflate(_ content: [UInt8], into deflated: inout [UInt8]) throws {
    try withStream { stream in
      let status = deflateInit2_(
        stream, level, Z_DEFLATED, rawWindowBits, MAX_MEM_LEVEL - 1, Z_DEFAULT_STRATEGY,
        ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
      guard status == Z_OK else { throw failure("deflate") }
      defer { deflateEnd(stream) }
      try run("deflate", stream, from: content, into: &deflated, CZlib.deflate)
    }
  }

  /// zlib compares the address of a stream with that of its start.
  private static func withStream(_ body: (UnsafeMutablePointer<z_stream>) throws -> Void) rethrows {
    let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    stream.initialize(to: z_stream())
    defer { stream.deallocate() }
    try body(stream)
  }

  private static func run(
    _ verb: String, _ stream: UnsafeMutablePointer<z_stream>, from input: [UInt8],
    into output: inout [UInt8], _ call: (UnsafeMutablePointer<z_stream>, Int32) -> Int32
  ) throws {
    let status = input.withUnsafeBufferPointer { input in
      output.withUnsafeMutableBufferPointer { output in
        stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
        stream.pointee.avail_in = UInt32(input.count)
        stream.pointee.next_out = output.baseAddress
        stream.pointee.avail_out = UInt32(output.count)
        return call(stream, Z_FINISH)
      }
    }
    guard status == Z_STREAM_END else { throw failure(verb) }
  }

  private static func failure(_ verb: String) -> CommandFailure {
    CommandFailure(status: .machineFailed, message: "zlib could not \(verb) the export.")
  }
}

/// The first entry of a zip that this project has written: its local header states both sizes.
private struct DeflatedEntry {
  let bytes: [UInt8]
  /// The size of the inflated content.
  let byteCount: Int

  private static let headerByteCount = 30

  init(_ zip: Data) throws {
    func number(_ offset: Int, _ count: Int) -> Int {
      zip.dropFirst(offset).prefix(count).reversed().reduce(0) { $0 << 8 | Int($1) }
    }
    let (compressedByteCount, start) = (
      number(18, 4), Self.headerByteCount + number(26, 2) + number(28, 2)
    )
    byteCount = number(22, 4)
    bytes = Array(zip.dropFirst(start).prefix(compressedByteCount))
    guard byteCount > 0, bytes.count == compressedByteCount else {
      throw CommandFailure(
        status: .machineFailed, message: "The zip has no export that states its size.")
    }
  }
}
