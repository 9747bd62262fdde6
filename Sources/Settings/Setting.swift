// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import QuietHTTP
import TextEncodings

/// One field of a `settings.json`: the only definition of its name, type, limits, default and meaning.
///
/// The parser, the validation, the `settings` commands and the tables in Documentation/Serving.md are generated from
/// these rows. `Root` is the type that stores the value.
package struct Setting<Root> {
  let name: String
  /// The values that are accepted, as the rest of the sentence "NAME must be ...".
  let form: String
  /// The effect of the setting, for the documentation.
  var meaning: String
  /// The default as the documentation shows it, if it follows from other settings.
  var shownDefault: String?
  /// If true, the field has no default and must be in the file.
  package var isRequired = false
  /// If true, it is accepted only in the `settings.json` of the folder.
  var isOfFolder = false
  /// If true, `null` in the file is the same as leaving the field out.
  var allowsNull = false
  /// The fields of an object or of the objects in a list, for the documentation.
  var parts: [SettingDescription] = []
  /// The default, given the settings of the rows before this one; `nil` if there is none.
  package var fallback: (Root) -> JSONValue?
  /// Stores a value in `Root`.
  ///
  /// - Returns: The value as it is in force, or `nil` if it does not have the form.
  let take: (JSONValue, inout Root, SettingContext) throws -> JSONValue?

  package init(
    name: String, form: String, meaning: String, shownDefault: String? = nil,
    isRequired: Bool = false, allowsNull: Bool = false, parts: [SettingDescription] = [],
    fallback: @escaping (Root) -> JSONValue?,
    take: @escaping (JSONValue, inout Root, SettingContext) throws -> JSONValue?
  ) {
    self.name = name
    self.form = form
    self.meaning = meaning
    self.shownDefault = shownDefault
    self.isRequired = isRequired
    self.allowsNull = allowsNull
    self.parts = parts
    self.fallback = fallback
    self.take = take
  }
}

extension Setting {
  /// The same setting with a default that depends on other settings; `null` in the file means the default, too.
  func defaulting(to shown: String, _ fallback: @escaping (Root) -> JSONValue?) -> Self {
    var setting = self
    setting.shownDefault = shown
    setting.fallback = fallback
    setting.allowsNull = true
    return setting
  }
}

/// A row of a table in Documentation/Serving.md.
package struct SettingDescription: Equatable {
  var name: String
  var fallback: String
  var form: String
  var meaning: String

  init<Root>(_ setting: Setting<Root>, defaults root: Root) {
    name = setting.name
    form = setting.form
    meaning = setting.meaning
    let text = setting.fallback(root).map { "`\($0.text)`" }
    fallback = setting.isRequired ? "required" : setting.shownDefault ?? text ?? "none"
  }

  func inside(_ object: String) -> Self {
    var row = self
    row.name = name.hasPrefix("[") ? object + name : "\(object).\(name)"
    return row
  }

  /// The row in Markdown.
  package var markdown: String { "| `\(name)` | \(fallback) | \(form) | \(meaning) |" }
}

/// The types that settings have.
extension Setting {
  /// A setting with one value in `Root`, which `read` converts from JSON and `write` to the JSON of its default.
  private static func value<Value>(
    _ name: String, _ path: WritableKeyPath<Root, Value>, form: String, _ meaning: String,
    shownDefault: String? = nil, isRequired: Bool = false, allowsNull: Bool = false,
    write: @escaping (Value) -> JSONValue?, read: @escaping (JSONValue) -> Value?
  ) -> Self {
    Self(
      name: name, form: form, meaning: meaning, shownDefault: shownDefault, isRequired: isRequired,
      allowsNull: allowsNull, fallback: { isRequired ? nil : write($0[keyPath: path]) },
      take: { value, root, _ in
        guard let new = read(value) else { return nil }
        root[keyPath: path] = new
        return value
      })
  }

  package static func integer(
    _ name: String, _ path: WritableKeyPath<Root, Int>, _ limits: ClosedRange<Int>,
    _ meaning: String
  ) -> Self {
    let most = limits.upperBound == .max ? " or more" : " to \(limits.upperBound)"
    return value(
      name, path, form: "a whole number, \(limits.lowerBound)\(most)", meaning,
      write: JSONValue.integer
    ) { $0.integer.flatMap { limits.contains($0) ? $0 : nil } }
  }

  package static func seconds(
    _ name: String, _ path: WritableKeyPath<Root, Double>, _ limits: ClosedRange<Double>,
    _ meaning: String
  ) -> Self {
    value(
      name, path, form: "seconds, \(Int(limits.lowerBound)) to \(Int(limits.upperBound))", meaning,
      write: JSONValue.number
    ) { $0.number.flatMap { limits.contains($0) ? $0 : nil } }
  }

  package static func flag(
    _ name: String, _ path: WritableKeyPath<Root, Bool>, _ meaning: String
  ) -> Self {
    value(name, path, form: "true or false", meaning, write: JSONValue.bool) {
      if case .bool(let flag) = $0 { flag } else { nil }
    }
  }

  /// A text of 1 to 255 characters in one line.
  package static func name(
    _ name: String, _ path: WritableKeyPath<Root, String>, required: Bool = false,
    _ meaning: String
  ) -> Self {
    value(
      name, path, form: SettingLimit.nameForm, meaning, isRequired: required,
      write: JSONValue.string, read: \.name)
  }

  package static func names(
    _ name: String, _ path: WritableKeyPath<Root, Set<String>>, _ meaning: String
  ) -> Self {
    value(
      name, path, form: "a list of texts, each of 1 to 255 characters in one line", meaning,
      write: { .array($0.sorted().map(JSONValue.string)) }
    ) { value in
      guard case .array(let list) = value else { return nil }
      let names = list.compactMap(\.name)
      return names.count == list.count ? Set(names) : nil
    }
  }

  /// Texts by name.
  package static func texts(
    _ name: String, _ path: WritableKeyPath<Root, [String: String]>, _ meaning: String
  ) -> Self {
    value(
      name, path, form: "an object of texts", meaning,
      write: { .object($0.mapValues(JSONValue.string)) }
    ) { value in
      guard case .object(let fields) = value else { return nil }
      let texts = fields.compactMapValues(\.string)
      return texts.count == fields.count ? texts : nil
    }
  }

  /// An address that may be left out.
  package static func optionalAddress(
    _ name: String, _ path: WritableKeyPath<Root, URL?>, _ meaning: String
  ) -> Self {
    value(
      name, path, form: WebAddress.form, meaning, allowsNull: true,
      write: { $0.map { .string($0.absoluteString) } }
    ) { value -> URL?? in value.string.flatMap { WebAddress($0).map { .some($0.url) } } }
  }

  /// A text that may be left out.
  package static func text(
    _ name: String, _ path: WritableKeyPath<Root, String?>, form: String = "text",
    _ meaning: String, _ isGood: @escaping (String) -> Bool = { _ in true }
  ) -> Self {
    value(
      name, path, form: form, meaning, allowsNull: true, write: { $0.map(JSONValue.string) }
    ) { value -> String?? in value.string.flatMap { isGood($0) ? .some($0) : nil } }
  }

  /// The names of the realms of the folder.
  package static func realms(_ path: WritableKeyPath<Root, [String]>) -> Self {
    var row = value(
      "realms", path, form: "a list of texts",
      "the [realms](Realms.md) of the folder; `realm add` and `realm remove` change it",
      write: { $0.isEmpty ? nil : .array($0.map(JSONValue.string)) }
    ) { $0.texts }
    row.isOfFolder = true
    return row
  }

  /// The identifier of a time zone.
  package static func timeZone(
    _ name: String, _ path: WritableKeyPath<Root, String>, _ meaning: String
  ) -> Self {
    value(
      name, path, form: "the identifier of a time zone, such as Europe/Warsaw", meaning,
      write: JSONValue.string
    ) { value in value.string.flatMap { TimeZone(identifier: $0) == nil ? nil : $0 } }
  }

  /// The name of a file or folder. Calls `take` only if files are read.
  package static func file(
    _ name: String, required: Bool = true, _ meaning: String,
    _ take: @escaping (String, inout Root, SettingContext) throws -> Void
  ) -> Self {
    Self(
      name: name, form: "a path of 1 to 255 characters in one line", meaning: meaning,
      isRequired: required, allowsNull: !required,
      fallback: { _ in nil },
      take: { value, root, place in
        guard let file = value.name else { return nil }
        if place.readsFiles { try take(file, &root, place) }
        return value
      })
  }

  /// An address that secrets may be sent to: https, or http on this machine.
  package static func address(
    _ name: String, _ path: WritableKeyPath<Root, URL>, required: Bool = false, _ meaning: String
  ) -> Self {
    value(
      name, path, form: WebAddress.form, meaning,
      isRequired: required, write: { .string($0.absoluteString) }
    ) { $0.string.flatMap { WebAddress($0)?.url } }
  }

  /// An object whose fields are in `table`. If it is left out, all fields have their defaults.
  package static func object<Value>(
    _ name: String, _ path: WritableKeyPath<Root, Value>, defaults: Value,
    _ table: SettingsTable<Value>
  ) -> Self {
    Self(
      name: name, form: "an object", meaning: "", parts: table.descriptions(defaults: defaults),
      fallback: { _ in .object([:]) },
      take: { value, root, place in
        try table.resolve(value, into: &root[keyPath: path], at: place)
      })
  }

  /// An optional object. `take` receives the value, which `table` creates from `defaults`, and its JSON.
  package static func optionalObject<Value>(
    _ name: String, _ meaning: String, defaults: Value, _ table: SettingsTable<Value>,
    _ take: @escaping (Value, JSONValue, inout Root, SettingContext) throws -> Void
  ) -> Self {
    Self(
      name: name, form: "an object", meaning: meaning, allowsNull: true,
      parts: table.descriptions(defaults: defaults), fallback: { _ in nil },
      take: { tree, root, place in
        var value = defaults
        let inForce = try table.resolve(tree, into: &value, at: place)
        try take(value, inForce, &root, place)
        return inForce
      })
  }

  /// The origin whose browser pages may call.
  package static func origin(_ path: WritableKeyPath<Root, String?>) -> Self {
    .text(
      "allowedOrigin", path, form: "an origin, such as https://app.example",
      "the one origin whose browser pages may call the server"
    ) { WebAddress($0)?.isOrigin == true }
  }

  /// The least severe entries in the log.
  package static func logLevel(_ path: WritableKeyPath<Root, Logger.Level>) -> Self {
    value(
      "logLevel", path, form: "one of debug, info, warning, error",
      "the least severe entries in the log on stderr; `info` has one for each request",
      write: { .string($0.rawValue) }
    ) { value in
      let level = value.string.flatMap { Logger.Level(rawValue: $0) }
      return level.flatMap { [.debug, .info, .warning, .error].contains($0) ? $0 : nil }
    }
  }

  /// The proxies whose `X-Forwarded-For` is trusted.
  package static func proxies(_ path: WritableKeyPath<Root, TrustedProxies>) -> Self {
    value(
      "trustedProxies", path,
      form: "a list of addresses or networks, none wider than /8: each client in a network can"
        + " choose the address it is counted by",
      "proxies whose `X-Forwarded-For` is trusted; behind a proxy that is not listed, all clients"
        + " share the limits of one address", write: { _ in .array([]) }
    ) { $0.texts.flatMap { TrustedProxies($0) } }
  }

  /// The networks that a group of routes may be called from.
  package static func netmasks(
    _ name: String, _ path: WritableKeyPath<Root, Netmasks>, _ meaning: String
  ) -> Self {
    value(
      name, path,
      form: "a list of 1 to \(QuietLimit.netmasksMax) addresses or networks, such as 10.0.0.0/8 or"
        + " 2001:db8::/32; leave it out to allow every address",
      meaning, shownDefault: "every address", write: { _ in nil }
    ) { $0.texts.flatMap { Netmasks($0) } }
  }
}

/// An address that a server may send secrets to: https anywhere, http on this machine only.
package struct WebAddress {
  /// The addresses that are accepted, as the rest of the sentence "NAME must be ...".
  package static let form =
    "an https URL, or an http URL of this machine, without user, query and fragment, on a port of 1 to 65535"

  package let url: URL
  /// True if the address is an origin as browsers write it: without a path, not even a slash, in lower case, and
  /// without the usual port.
  package let isOrigin: Bool

  /// Fails if `text` is not such an address.
  package init?(_ text: String) {
    guard text.utf8.count <= SettingLimit.nameCharacters.upperBound,
      let parts = URLComponents(string: text), let url = parts.url, url.isOfServer,
      url.isEncryptedOrLocal, parts.query == nil, parts.fragment == nil
    else { return nil }
    self.url = url
    let usualPort = url.scheme == "https" ? 443 : 80
    isOrigin = parts.path.isEmpty && text == text.lowercased() && parts.port != usualPort
  }
}
