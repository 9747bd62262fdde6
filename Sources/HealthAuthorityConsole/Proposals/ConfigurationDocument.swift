import Foundation
import KeyServerAPI

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
    guard let typed = try? JSONSerialization.jsonObject(with: data),
      let encoded = try? JSONEncoder().encode(configuration),
      let read = try? JSONSerialization.jsonObject(with: encoded)
    else { throw Fault(message: "not JSON.") }
    if let path = firstUnread(typed, read, at: []) {
      throw Fault(
        message: "\(path.joined(separator: ".")) is not a field, or its value is not accepted.")
    }
    return configuration
  }

  /// The path of the first value of `typed` that `read` does not have.
  private static func firstUnread(_ typed: Any, _ read: Any?, at path: [String]) -> [String]? {
    switch typed {
    case let fields as [String: Any]:
      guard let readFields = read as? [String: Any] else { return path }
      return fields.sorted { $0.key < $1.key }.lazy.compactMap { name, value in
        firstUnread(value, readFields[name], at: path + [name])
      }.first
    case let elements as [Any]:
      guard let readElements = read as? [Any], readElements.count == elements.count else {
        return path
      }
      return zip(elements, readElements).enumerated().lazy.compactMap { index, pair in
        firstUnread(pair.0, pair.1, at: path + ["\(index)"])
      }.first
    case is NSNull: return read == nil || read is NSNull ? nil : path
    case let value as NSNumber: return (read as? NSNumber) == value ? nil : path
    case let value as String: return (read as? String) == value ? nil : path
    default: return path
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
