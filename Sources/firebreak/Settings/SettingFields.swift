import Foundation
import QuietHTTP

/// The fields of one object of settings. What is left out stays at its default, and what is no setting is
/// refused: one that is misspelt and silently at its default would be found out too late.
///
/// Documentation/Serving.md 9.
struct SettingFields<Key: CodingKey> {
  private let fields: KeyedDecodingContainer<Key>

  /// - Throws: a refusal that names the first field that is no setting.
  init(_ decoder: any Decoder) throws {
    let names = try decoder.container(keyedBy: PropertyName.self).allKeys
    let strangers = names.filter { Key(stringValue: $0.stringValue) == nil }
    if let stranger = strangers.min(by: { $0.stringValue < $1.stringValue }) {
      let place = (decoder.codingPath + [stranger]).place.printable
      throw CommandFailure.badInput("\(place) is no setting: correct its name or take it out.")
    }
    fields = try decoder.container(keyedBy: Key.self)
  }

  /// Puts the value at `key` into `value`, where there is one.
  func read<Value: Decodable>(_ key: Key, into value: inout Value) throws {
    guard fields.contains(key) else { return }
    value = try fields.checked(key, "needs \(Self.form(of: Value.self))") { $0 }
  }

  /// Puts the name at `key` into `name`, where there is one.
  func read(_ key: Key, intoName name: inout String) throws {
    guard fields.contains(key) else { return }
    name = try self.name(key)
  }

  /// The name at `key`, which must be there: something to read, in one line.
  func name(_ key: Key) throws -> String {
    let lengths = SettingLimit.nameCharacters
    return try fields.checked(
      key, "needs text of \(lengths.lowerBound) to \(lengths.upperBound) characters"
    ) { (text: String) in
      let isName = lengths.contains(text.count) && text == text.printable
      return isName ? text : nil
    }
  }

  /// Puts the names at `key` into `names`, where there are any.
  func read(_ key: Key, intoNames names: inout [String]) throws {
    try read(key, into: &names, "needs a list of texts, each in one line and not empty") {
      (list: [String]) in
      let lengths = SettingLimit.nameCharacters
      return list.allSatisfy { lengths.contains($0.count) && $0 == $0.printable } ? list : nil
    }
  }

  /// Puts the origin at `key` into `origin`, where there is one; null for none.
  func read(_ key: Key, intoOrigin origin: inout String?) throws {
    try read(key, into: &origin, "needs an origin, such as https://app.example") {
      (text: String?) -> String?? in
      guard let text else { return .some(nil) }
      guard let address = WebAddress(text), address.isOrigin else { return nil }
      return .some(address.text)
    }
  }

  /// Puts the addresses and networks at `key` into `networks`, where there are any.
  func read(_ key: Key, intoNetworks networks: inout [String]) throws {
    let need =
      "needs a list of addresses or networks, such as 10.0.0.0/8; none wider than /8, for everybody in it could"
      + " choose the address that is counted"
    try read(key, into: &networks, need) {
      (list: [String]) in TrustedProxies(list) == nil ? nil : list
    }
  }

  /// Puts the networks at `key` into `networks`, where there are any; leaving them out means everybody.
  func read(_ key: Key, intoNetmasks networks: inout [String]?) throws {
    guard fields.contains(key) else { return }
    networks = try fields.checked(key, Netmasks.need) { (list: [String]) -> [String]? in
      Netmasks(list) == nil ? nil : list
    }
  }

  /// Puts the address at `key` into `address`, where there is one: of https, or of http on this machine, so
  /// that no secret goes over a wire in plain.
  func read(_ key: Key, intoAddress address: inout String) throws {
    guard fields.contains(key) else { return }
    address = try self.address(key)
  }

  /// The address at `key`, which must be there.
  func address(_ key: Key) throws -> String {
    try fields.checked(key, "needs an address of https (of http on this machine only)") {
      (text: String) in WebAddress(text)?.text
    }
  }

  /// The value at `key` as `make` takes it, where there is one.
  func read<Raw: Decodable, Value>(
    _ key: Key, into value: inout Value, _ need: String, _ make: (Raw) throws -> Value?
  ) throws {
    guard fields.contains(key) else { return }
    value = try fields.checked(key, need, make)
  }

  private static func form(of type: Any.Type) -> String {
    switch type {
    case is Int.Type, is Int?.Type: "a whole number"
    case is Double.Type: "a number"
    case is Bool.Type: "true or false"
    case is String.Type, is String?.Type: "text"
    case is [String].Type, is [String]?.Type: "a list of texts"
    case is [String: String].Type: "an object of texts"
    default: "an object"
    }
  }
}
