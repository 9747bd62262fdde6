// SPDX-License-Identifier: Apache-2.0
import Foundation
import Secrets

/// A block of a PEM file: the text between `-----BEGIN LABEL-----` and `-----END LABEL-----`. RFC 7468.
///
/// As in OpenSSL, there may be other text around a block, and its lines may have any length. The whole block may
/// also be in one line.
struct PEMBlock {
  /// The type of the content, such as `PUBLIC KEY`.
  let label: String
  private let body: Data

  /// The blocks in `content` up to the first damaged one, in their order, and its fault; none if it is not PEM.
  static func blocks(in content: Data) -> (blocks: [PEMBlock], fault: KeyFault?) {
    var blocks: [PEMBlock] = []
    var rest = content
    while let begin = rest.range(of: beginMarker) {
      rest = rest[begin.upperBound...]
      guard let dashes = rest.range(of: Self.dashes),
        let label = Self.label(rest[..<dashes.lowerBound])
      else { continue }
      rest = rest[dashes.upperBound...]
      let end = Data("-----END \(label)-----".utf8)
      guard let end = rest.range(of: end),
        rest[..<end.lowerBound].range(of: beginMarker) == nil
      else {
        let fault = KeyFault(
          "it is truncated, the line -----END \(label)----- is missing", "copy it again")
        return (blocks, fault)
      }
      blocks.append(PEMBlock(label: label, body: Data(rest[..<end.lowerBound])))
      rest = rest[end.upperBound...]
    }
    return (blocks, nil)
  }

  /// True if the block is encrypted in the form that preceded PKCS#8.
  var isEncrypted: Bool {
    lines.contains { $0.hasPrefix("Proc-Type:") && $0.contains("ENCRYPTED") }
  }

  /// The decoded content.
  func content() throws(KeyFault) -> [UInt8] {
    // Base64 has no colon, so the lines up to the last one with a colon are header fields.
    let headerCount = lines.lastIndex { $0.contains(":") }.map { $0 + 1 } ?? 0
    let text = lines.dropFirst(headerCount).joined().filter { !$0.isWhitespace }
    guard !text.contains(#"\n"#) else {
      throw KeyFault(
        #"the line breaks of the block \#(label) are written as \n"#, "replace them by line breaks")
    }
    guard let content = Data(base64Encoded: text) else {
      throw KeyFault("the text of the block \(label) is not base64", "copy it again")
    }
    return [UInt8](content)
  }

  private var lines: [Substring] {
    String(decoding: body, as: UTF8.self).split(whereSeparator: \.isNewline)
  }

  private static let beginMarker = Data("-----BEGIN ".utf8)
  private static let dashes = Data("-----".utf8)

  /// The label, or nil if the text is not one.
  private static func label(_ bytes: Data) -> String? {
    let text = String(decoding: bytes, as: UTF8.self)
    let isLabel = text.allSatisfy { $0.isASCII && ($0.isUppercase || $0.isNumber || $0 == " ") }
    return isLabel ? text : nil
  }
}

extension PEMBlock: Redacted {}
