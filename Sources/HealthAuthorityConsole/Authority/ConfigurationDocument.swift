// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import TextEncodings
import World

/// A remote configuration as the JSON document that officials edit.
enum ConfigurationDocument {
  /// The reason why a document is not accepted, as a sentence that names the field.
  struct Fault: Error, Hashable {
    let message: String
  }

  /// The document of `configuration`, in a fixed form, so that changed lines are changed values.
  static func text(of configuration: RemoteConfiguration) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(configuration), as: UTF8.self)
  }

  /// The configuration of a document that an official has typed. A missing field has its default.
  ///
  /// Phones read a configuration leniently. Here an unknown field and a value of another type are errors, because the
  /// official would take them for a change.
  static func configuration(_ text: String) throws(Fault) -> RemoteConfiguration {
    let data = Data(text.utf8)
    let configuration: RemoteConfiguration
    do {
      configuration = try JSONDecoder().decode(RemoteConfiguration.self, from: data)
    } catch {
      throw Fault(message: message(error))
    }
    if let fault = configuration.fault { throw Fault(message: fault) }
    let read: JSONValue
    do {
      read = try JSONValue(encoding: configuration)
    } catch {
      throw Fault(message: message(error))
    }
    guard let typed = JSONValue(json: data) else { throw Fault(message: "not JSON.") }
    if let path = firstUnread(typed, read, at: []) {
      throw Fault(
        message: "\(path.joined(separator: ".")) is not a field, or its value is not accepted.")
    }
    return configuration
  }

  /// The path of the first value of `typed` that `read` does not have.
  private static func firstUnread(
    _ typed: JSONValue, _ read: JSONValue?, at path: [String]
  ) -> [String]? {
    switch typed {
    case .object(let fields):
      guard case .object(let readFields) = read else { return path }
      return fields.sorted { $0.key < $1.key }.lazy.compactMap { name, value in
        firstUnread(value, readFields[name], at: path + [name])
      }.first
    case .array(let elements):
      guard case .array(let readElements) = read, readElements.count == elements.count else {
        return path
      }
      return zip(elements, readElements).enumerated().lazy.compactMap { index, pair in
        firstUnread(pair.0, pair.1, at: path + ["\(index)"])
      }.first
    case .null: return [nil, .null].contains(read) ? nil : path
    default: return read == typed ? nil : path
    }
  }

  private static func message(_ error: any Error) -> String {
    func place(_ context: DecodingError.Context) -> String {
      let path = context.codingPath.map { $0.intValue.map { "\($0)" } ?? $0.stringValue }
        .joined(separator: ".")
      return path.isEmpty ? "" : "\(path): "
    }
    return switch error as? DecodingError {
    case .keyNotFound(let key, let context): "\(place(context))\(key.stringValue) is missing."
    case .typeMismatch(_, let context), .valueNotFound(_, let context):
      "\(place(context))has another type."
    case .dataCorrupted(let context): "\(place(context))\(context.debugDescription)"
    default: "not JSON."
    }
  }
}

/// The lines in which two texts differ: those that are only in the first after `-`, those that are only in the second
/// after `+`.
enum ChangedLines {
  static func text(from old: String, to new: String) -> String {
    let oldLines = old.components(separatedBy: "\n")
    let newLines = new.components(separatedBy: "\n")
    let difference = newLines.difference(from: oldLines)
    let changes = difference.map { change -> (offset: Int, text: String) in
      switch change {
      case .remove(let offset, let line, _): (offset, "- " + line)
      case .insert(let offset, let line, _): (offset, "+ " + line)
      }
    }
    return changes.sorted { ($0.offset, $1.text) < ($1.offset, $0.text) }.map(\.text)
      .joined(separator: "\n")
  }
}
