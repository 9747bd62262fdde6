// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Every authenticated encryption names its nonce: without one, swift-crypto draws random bytes that no `Randomness`
/// parameter controls.
enum NonceRule {
  private static let call = #"\b(AES\.GCM|ChaChaPoly)\.seal\("#
  private static let advice = "pass nonce: with bytes of a Randomness parameter"

  static func violations(in file: SourceFile) -> [Violation] {
    file.matches(call).filter { !arguments(in: file, from: $0.line).contains("nonce:") }
      .map { file.violation($0.line, advice) }
  }

  /// The arguments of the call that begins in `line`, without those of calls inside them.
  private static func arguments(in file: SourceFile, from line: Int) -> String {
    let lines = file.code[(line - 1)...]
    let text = lines.joined(separator: "\n")
    guard let start = text.range(of: call, options: .regularExpression) else { return "" }
    var (found, depth) = ("", 0)
    for character in text[start.upperBound...] {
      switch character {
      case "(": depth += 1
      case ")":
        depth -= 1
        if depth < 0 { return found }
      default:
        if depth == 0 { found.append(character) }
      }
    }
    return found
  }
}
