// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The text of an uploaded list in the encodings that offices use: UTF-8, UTF-16 and Windows-1250.
enum ListText {
  /// The reasons why a file is not text.
  enum Fault: Error, Hashable {
    /// A workbook of a spreadsheet program, which must be saved as CSV first.
    case workbook
    /// Bytes that stand for no character in these encodings.
    case notText
  }

  /// Decodes a file by its byte order mark, as UTF-8 if it is valid, as UTF-16 if every other byte of its start is
  /// zero, and as Windows-1250 otherwise.
  static func decoded(_ file: Data) throws(Fault) -> String {
    let bytes = [UInt8](file)
    guard !isWorkbook(bytes) else { throw .workbook }
    if bytes.starts(with: [0xFF, 0xFE]) { return try utf16(bytes.dropFirst(2), isLittle: true) }
    if bytes.starts(with: [0xFE, 0xFF]) { return try utf16(bytes.dropFirst(2), isLittle: false) }
    if let isLittle = utf16Order(bytes) { return try utf16(bytes[...], isLittle: isLittle) }
    guard !bytes.contains(0) else { throw .notText }
    if let text = String(validating: bytes, as: UTF8.self) { return text }
    return try windows1250(bytes)
  }

  /// True for the formats of Excel (a zip archive, and the older compound file) and LibreOffice (a zip archive).
  private static func isWorkbook(_ bytes: [UInt8]) -> Bool {
    bytes.starts(with: [0x50, 0x4B, 0x03, 0x04]) || bytes.starts(with: [0xD0, 0xCF, 0x11, 0xE0])
  }

  private static func utf16(
    _ bytes: ArraySlice<UInt8>, isLittle: Bool
  ) throws(Fault) -> String {
    guard bytes.count.isMultiple(of: 2) else { throw .notText }
    let units = stride(from: bytes.startIndex, to: bytes.endIndex, by: 2).map { index in
      let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
      return isLittle ? second << 8 | first : first << 8 | second
    }
    guard let text = String(validating: units, as: UTF16.self), !text.contains("\0") else {
      throw .notText
    }
    return text
  }

  /// The byte order of UTF-16 without a mark, which the zero bytes of Latin letters show: true for little-endian.
  private static func utf16Order(_ bytes: [UInt8]) -> Bool? {
    let start = bytes.prefix(utf16SampleBytes)
    guard start.count >= 4, start.count.isMultiple(of: 2) else { return nil }
    let zeros = start.indices.filter { start[$0] == 0 }
    guard zeros.count * 4 >= start.count else { return nil }
    if zeros.allSatisfy({ !$0.isMultiple(of: 2) }) { return true }
    return zeros.allSatisfy { $0.isMultiple(of: 2) } ? false : nil
  }

  private static let utf16SampleBytes = 64

  private static func windows1250(_ bytes: [UInt8]) throws(Fault) -> String {
    var text = ""
    for byte in bytes {
      guard byte >= 0x80 else {
        text.unicodeScalars.append(Unicode.Scalar(byte))
        continue
      }
      let character = upperHalf[Int(byte) - 0x80]
      guard character != "\u{FFFD}" else { throw .notText }
      text.append(character)
    }
    return text
  }

  /// The characters of the bytes from 0x80 on; U+FFFD for those that the encoding leaves out.
  private static let upperHalf = Array(
    "€\u{FFFD}‚\u{FFFD}„…†‡\u{FFFD}‰Š‹ŚŤŽŹ\u{FFFD}‘’“”•–—\u{FFFD}™š›śťžź"
      + "\u{A0}ˇ˘Ł¤Ą¦§¨©Ş«¬\u{AD}®Ż°±˛ł´µ¶·¸ąş»Ľ˝ľż"
      + "ŔÁÂĂÄĹĆÇČÉĘËĚÍÎĎĐŃŇÓÔŐÖ×ŘŮÚŰÜÝŢßŕáâăäĺćçčéęëěíîďđńňóôőö÷řůúűüýţ˙")
}
