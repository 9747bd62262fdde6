import Foundation

/// Any JSON, to see what of a file a reader has taken.
indirect enum JSONTree: Codable, Equatable {
  case nothing
  case flag(Bool)
  case number(Double)
  case text(String)
  case list([JSONTree])
  case object([String: JSONTree])

  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .nothing
    } else if let flag = try? value.decode(Bool.self) {
      self = .flag(flag)
    } else if let number = try? value.decode(Double.self) {
      self = .number(number)
    } else if let text = try? value.decode(String.self) {
      self = .text(text)
    } else if let list = try? value.decode([JSONTree].self) {
      self = .list(list)
    } else {
      self = .object(try value.decode([String: JSONTree].self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .nothing: try container.encodeNil()
    case .flag(let flag): try container.encode(flag)
    case .number(let number): try container.encode(number)
    case .text(let text): try container.encode(text)
    case .list(let list): try container.encode(list)
    case .object(let fields): try container.encode(fields)
    }
  }

  /// What `facts` say in JSON.
  static func of(_ facts: some Encodable) throws -> JSONTree {
    try JSONDecoder().decode(JSONTree.self, from: JSONEncoder().encode(facts))
  }

  /// The place of the first field of this that `taken` does not say the same of; nil where it says all of it.
  func firstNotTaken(in taken: JSONTree?) -> [String]? {
    guard case .object(let fields) = self, case .object(let others) = taken else {
      return self == taken ? nil : []
    }
    return fields.keys.sorted().lazy.compactMap { name in
      fields[name]?.firstNotTaken(in: others[name]).map { [name] + $0 }
    }.first
  }

  /// Every value with its place, in the order of the places.
  func lines(at place: String = "") -> [String] {
    switch self {
    case .object(let fields) where !fields.isEmpty:
      fields.keys.sorted().flatMap { name in
        fields[name]?.lines(at: place.isEmpty ? name : "\(place).\(name)") ?? []
      }
    case .list(let list) where list.contains(where: \.isObject):
      list.enumerated().flatMap { $0.element.lines(at: "\(place)[\($0.offset)]") }
    default: ["\(place): \(said)"]
    }
  }

  private var isObject: Bool { if case .object = self { true } else { false } }

  private var said: String {
    switch self {
    case .nothing: "none"
    case .flag(let flag): flag ? "yes" : "no"
    case .number(let number): Int(exactly: number).map(String.init) ?? "\(number)"
    case .text(let text): text.printable
    case .list(let list): list.isEmpty ? "none" : list.map(\.said).joined(separator: ", ")
    case .object: "none"
    }
  }
}
