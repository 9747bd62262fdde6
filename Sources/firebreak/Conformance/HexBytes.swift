/// Bytes that a suite writes in hex.
struct HexBytes: Decodable {
  let bytes: [UInt8]

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let bytes = [UInt8](hexadecimal: try container.decode(String.self)) else {
      throw CommandFailure.badInput("\(container.codingPath.place) needs bytes in hexadecimal.")
    }
    self.bytes = bytes
  }

  var text: String { bytes.lowerCaseHex }
}
