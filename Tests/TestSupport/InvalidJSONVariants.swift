// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Generates invalid variants of a JSON document, each with one error.
public enum InvalidJSONVariants {
  /// A variant.
  public struct Variant: Sendable, CustomStringConvertible {
    /// The error and its path.
    public let description: String
    public let json: Data
  }

  /// The variants in which one value is replaced by a value of another type.
  public static func wrongTypes(of json: Data) throws -> [Variant] {
    let root = try parsed(json)
    return places(in: root).flatMap { place, value in
      Kind.allCases.filter { $0 != Kind(value) }.map { kind in
        variant("\(kind) at \(name(place))", root) { $0 == place ? .replaced(kind.text) : .kept }
      }
    }
  }

  /// The variants in which one object has a field twice.
  public static func repeatedFields(of json: Data) throws -> [Variant] {
    try objects(of: json) { fields in
      fields.min { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
  }

  /// The variants in which one object has an unknown field.
  public static func unknownFields(of json: Data) throws -> [Variant] {
    try objects(of: json) { _ in ("strange", 1) }
  }

  private static func objects(
    of json: Data, adding: ([String: Any]) -> (String, Any)?
  ) throws -> [Variant] {
    let root = try parsed(json)
    return places(in: root, withRoot: true).compactMap { place, value in
      guard let fields = value as? [String: Any], let (field, more) = adding(fields) else {
        return nil
      }
      let text = "\"\(field)\":\(render(more, [], { _ in .kept }))"
      return variant("\(field) in \(name(place))", root) { $0 == place ? .added(text) : .kept }
    }
  }

  private enum Kind: CaseIterable {
    case boolean, number, text, list, object

    init(_ value: Any) {
      switch value {
      case is [Any]: self = .list
      case is [String: Any]: self = .object
      case is String: self = .text
      default: self = InvalidJSONVariants.isBoolean(value) ? .boolean : .number
      }
    }

    var text: String {
      switch self {
      case .boolean: "true"
      case .number: "7"
      case .text: "\"text\""
      case .list: "[]"
      case .object: "{}"
      }
    }
  }

  private enum Change {
    case kept
    case replaced(String)
    case added(String)
  }

  private static func variant(
    _ description: String, _ root: Any, _ change: ([String]) -> Change
  ) -> Variant {
    Variant(description: description, json: Data(render(root, [], change).utf8))
  }

  private static func render(
    _ value: Any, _ place: [String], _ change: ([String]) -> Change
  ) -> String {
    var more: [String] = []
    switch change(place) {
    case .kept: break
    case .replaced(let text): return text
    case .added(let text): more = [text]
    }
    switch value {
    case let fields as [String: Any]:
      let members = fields.sorted { $0.key < $1.key }.map {
        "\"\($0.key)\":\(render($0.value, place + [$0.key], change))"
      }
      return "{" + (members + more).joined(separator: ",") + "}"
    case let list as [Any]:
      let elements = list.enumerated().map {
        render($0.element, place + ["\($0.offset)"], change)
      }
      return "[" + elements.joined(separator: ",") + "]"
    case let text as String: return "\"\(text.replacing("\\", with: "\\\\"))\""
    default: return isBoolean(value) ? "\(value as? Bool ?? false)" : "\(value)"
    }
  }

  /// All values except the root, with their paths; only the first element of a list.
  private static func places(
    in value: Any, _ place: [String] = [], withRoot: Bool = false
  ) -> [(place: [String], value: Any)] {
    let here: [(place: [String], value: Any)] = withRoot || !place.isEmpty ? [(place, value)] : []
    switch value {
    case let fields as [String: Any]:
      return fields.sorted { $0.key < $1.key }.reduce(here) {
        $0 + places(in: $1.value, place + [$1.key], withRoot: withRoot)
      }
    case let list as [Any]:
      return here
        + (list.first.map { places(in: $0, place + ["0"], withRoot: withRoot) } ?? [])
    default: return here
    }
  }

  private static func parsed(_ json: Data) throws -> Any {
    try JSONSerialization.jsonObject(with: json)
  }

  private static func name(_ place: [String]) -> String { "$" + place.map { ".\($0)" }.joined() }

  /// Foundation bridges 1 to `true` on some systems.
  private static func isBoolean(_ value: Any) -> Bool {
    guard let number = value as? NSNumber else { return value is Bool }
    return String(cString: number.objCType) == "c"
  }
}
