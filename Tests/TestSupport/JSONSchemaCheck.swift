// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Validates JSON against a schema. Supports the part of JSON Schema that our descriptions use: type, properties,
/// required, additionalProperties, items, minItems, maxItems, enum, pattern, minimum, maximum.
public enum JSONSchemaCheck {
  /// The errors in `value`, each with its path; empty if it is valid.
  public static func faults(in value: Any, _ schema: [String: Any], at path: String = "$")
    -> [String]
  {
    guard let type = schema["type"] as? String else { return ["\(path): a schema without a type"] }
    switch type {
    case "object": return object(value, schema, path)
    case "array": return array(value, schema, path)
    case "string": return string(value, schema, path)
    case "integer": return integer(value, schema, path)
    case "boolean": return isBoolean(value) ? [] : ["\(path): no boolean"]
    default: return ["\(path): unknown type \(type)"]
    }
  }

  private static func object(_ value: Any, _ schema: [String: Any], _ path: String) -> [String] {
    guard let fields = value as? [String: Any] else { return ["\(path): no object"] }
    let properties = schema["properties"] as? [String: [String: Any]] ?? [:]
    var faults: [String] = []
    for name in schema["required"] as? [String] ?? [] where fields[name] == nil {
      faults.append("\(path).\(name): missing")
    }
    for (name, field) in fields {
      if let property = properties[name] {
        faults += Self.faults(in: field, property, at: "\(path).\(name)")
      } else if schema["additionalProperties"] as? Bool == false {
        faults.append("\(path).\(name): not described")
      }
    }
    return faults
  }

  private static func array(_ value: Any, _ schema: [String: Any], _ path: String) -> [String] {
    guard let list = value as? [Any] else { return ["\(path): no array"] }
    var faults: [String] = []
    if let most = schema["maxItems"] as? Int, list.count > most {
      faults.append("\(path): too long")
    }
    if let least = schema["minItems"] as? Int, list.count < least {
      faults.append("\(path): too short")
    }
    guard let items = schema["items"] as? [String: Any] else { return faults }
    for (index, element) in list.enumerated() {
      faults += Self.faults(in: element, items, at: "\(path)[\(index)]")
    }
    return faults
  }

  private static func string(_ value: Any, _ schema: [String: Any], _ path: String) -> [String] {
    guard let text = value as? String else { return ["\(path): no string"] }
    if let allowed = schema["enum"] as? [String], !allowed.contains(text) {
      return ["\(path): \(text) is not one of \(allowed)"]
    }
    if let pattern = schema["pattern"] as? String,
      text.range(of: pattern, options: .regularExpression) == nil
    {
      return ["\(path): does not match \(pattern)"]
    }
    return []
  }

  private static func integer(_ value: Any, _ schema: [String: Any], _ path: String) -> [String] {
    guard let number = value as? Int, !isBoolean(value) else { return ["\(path): no integer"] }
    if let least = schema["minimum"] as? Int, number < least { return ["\(path): too small"] }
    if let most = schema["maximum"] as? Int, number > most { return ["\(path): too large"] }
    return []
  }

  /// Foundation bridges 1 to `true` on some systems.
  private static func isBoolean(_ value: Any) -> Bool {
    guard let number = value as? NSNumber else { return value is Bool }
    return String(cString: number.objCType) == "c"
  }
}
