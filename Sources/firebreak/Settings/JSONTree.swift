import Foundation
import QuietHTTP
import Terminal

/// Any JSON value.
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
    case .number(let number):
      if let integer { try container.encode(integer) } else { try container.encode(number) }
    case .text(let text): try container.encode(text)
    case .list(let list): try container.encode(list)
    case .object(let fields): try container.encode(fields)
    }
  }

  /// The JSON of `value`.
  static func of(_ value: some Encodable) throws -> JSONTree {
    try JSONDecoder().decode(JSONTree.self, from: JSONEncoder().encode(value))
  }

  /// Decodes a value from this JSON.
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try JSONDecoder().decode(type, from: JSONEncoder().encode(self))
  }
}

extension JSONTree {
  /// The field `name` of an object.
  subscript(name: String) -> JSONTree? {
    if case .object(let fields) = self { fields[name] } else { nil }
  }

  var text: String? { if case .text(let text) = self { text } else { nil } }

  /// The number, if it is an integer.
  var integer: Int? { if case .number(let number) = self { Int(exactly: number) } else { nil } }

  /// The texts of a list that contains only texts.
  var texts: [String]? {
    guard case .list(let list) = self else { return nil }
    let texts = list.compactMap(\.text)
    return texts.count == list.count ? texts : nil
  }

  /// The text, if it is a name: 1 to 255 characters in one line.
  var name: String? {
    guard let text, SettingLimit.nameCharacters.contains(text.count), text == text.printable
    else { return nil }
    return text
  }

  /// The text of this JSON.
  var json: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  /// The path of the first field whose value in `other` is different or missing; `nil` if there is none.
  func firstDifference(from other: JSONTree?) -> [String]? {
    guard case .object(let fields) = self, case .object(let others) = other else {
      return self == other ? nil : []
    }
    return fields.keys.sorted().lazy.compactMap { name in
      fields[name]?.firstDifference(from: others[name]).map { [name] + $0 }
    }.first
  }

  /// One line for each value, with its path, sorted by path.
  func lines(at path: String = "") -> [String] {
    switch self {
    case .object(let fields) where !fields.isEmpty:
      fields.keys.sorted().flatMap { name in
        fields[name]?.lines(at: path.isEmpty ? name : "\(path).\(name)") ?? []
      }
    case .list(let list) where list.contains(where: \.isObject):
      list.enumerated().flatMap { $0.element.lines(at: "\(path)[\($0.offset)]") }
    default: ["\(path): \(display)"]
    }
  }

  private var isObject: Bool { if case .object = self { true } else { false } }

  private var display: String {
    switch self {
    case .nothing: "none"
    case .flag(let flag): flag ? "yes" : "no"
    case .number(let number): integer.map(String.init) ?? "\(number)"
    case .text(let text): text.printable
    case .list(let list): list.isEmpty ? "none" : list.map(\.display).joined(separator: ", ")
    case .object: "none"
    }
  }
}
