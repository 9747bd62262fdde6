import Foundation

/// Prints facts as one JSON object on stdout, keys sorted.
func printJSON(_ facts: some Encodable) throws {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  try StandardOutput.write(String(decoding: try encoder.encode(facts), as: UTF8.self))
}
