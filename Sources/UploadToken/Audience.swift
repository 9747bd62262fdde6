/// The claim `aud`: one name, or a list of them (RFC 7519 4.1.3). Ours always write one.
struct Audience: Codable, Hashable {
  var names: [String]

  init(_ name: String) {
    names = [name]
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let name = try? container.decode(String.self) {
      names = [name]
    } else {
      names = try container.decode([String].self)
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    if let name = names.first, names.count == 1 {
      try container.encode(name)
    } else {
      try container.encode(names)
    }
  }
}
