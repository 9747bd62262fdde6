import Foundation

/// An answer as it came over the wire.
struct WireAnswer {
  let status: Int
  /// Names in lower case, in the order they came.
  let headerNames: [String]
  let headers: [String: String]
  let body: Data

  init(_ bytes: Data) throws {
    guard let end = bytes.range(of: Data("\r\n\r\n".utf8)) else {
      throw CocoaError(.fileReadCorruptFile)
    }
    let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
      .components(separatedBy: "\r\n")
    status = Int(lines[0].split(separator: " ")[1]) ?? 0
    let fields = lines.dropFirst().map { line in
      let parts = line.split(separator: ":", maxSplits: 1)
      return (parts[0].lowercased(), parts[1].trimmingCharacters(in: .whitespaces))
    }
    headerNames = fields.map(\.0)
    headers = Dictionary(fields, uniquingKeysWith: { first, _ in first })
    body = Data(bytes[end.upperBound...])
  }

  /// The top-level strings of the JSON.
  var json: [String: String] {
    (try? JSONDecoder().decode([String: String].self, from: body)) ?? [:]
  }
}
