// SPDX-License-Identifier: Apache-2.0
import Terminal
import TextEncodings

// The values of settings, and their display.
extension JSONValue {
  /// The texts of a list that contains only texts.
  var texts: [String]? {
    guard case .array(let list) = self else { return nil }
    let texts = list.compactMap(\.string)
    return texts.count == list.count ? texts : nil
  }

  /// The text, if it is a name: 1 to 255 characters in one line.
  var name: String? {
    guard let text = string, SettingLimit.nameCharacters.contains(text.count),
      text == text.printable
    else { return nil }
    return text
  }

  /// The path of the first field whose value in `other` is different or missing; `nil` if there is none. Fields that
  /// only `other` has, such as defaults, do not count, also in the objects of a list.
  func firstDifference(from other: JSONValue?) -> [String]? {
    if case .array(let list) = self, case .array(let others) = other, list.count == others.count {
      return zip(list, others).lazy.enumerated().compactMap { index, pair in
        pair.0.firstDifference(from: pair.1).map { ["\(index)"] + $0 }
      }.first
    }
    guard case .object(let fields) = self, case .object(let others) = other else {
      return self == other ? nil : []
    }
    return fields.keys.sorted().lazy.compactMap { name in
      fields[name]?.firstDifference(from: others[name]).map { [name] + $0 }
    }.first
  }

  /// One line for each value, with its path, sorted by path.
  package func lines(at path: String = "") -> [String] {
    switch self {
    case .object(let fields) where !fields.isEmpty:
      fields.keys.sorted().flatMap { name in
        fields[name]?.lines(at: path.isEmpty ? name : "\(path).\(name)") ?? []
      }
    case .array(let list) where list.contains(where: \.isObject):
      list.enumerated().flatMap { $0.element.lines(at: "\(path)[\($0.offset)]") }
    default: ["\(path): \(display)"]
    }
  }

  private var isObject: Bool { if case .object = self { true } else { false } }

  private var display: String {
    switch self {
    case .null: "none"
    case .bool(let flag): flag ? "yes" : "no"
    case .number(let number): integer.map(String.init) ?? "\(number)"
    case .string(let text): text.printable
    case .array(let list): list.isEmpty ? "none" : list.map(\.display).joined(separator: ", ")
    case .object: "none"
    }
  }
}
