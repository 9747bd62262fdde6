// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import KeyServer
import ServerOperations
import Settings
import Terminal
import TextEncodings

/// `authority`: the health authorities whose certificates `/v1/publish` accepts.
struct AuthorityCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "authority", abstract: "Manage the authorities whose certificates are accepted.",
    subcommands: [
      AuthorityAddCommand.self, AuthorityListCommand.self, AuthorityRemoveCommand.self,
      AuthorityWithdrawKeyCommand.self,
    ])
}

/// `authority add`: adds an authority, a key to an authority, or changes its properties.
struct AuthorityAddCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Accept an authority's certificates, signed by this key.",
    discussion: """
      Run again with another id to add a key, or with one option to change that property; the others stay. A running \
      server reads it in a minute. The issuer of our own verification server is known already and cannot be added.
      """)

  private struct Report: Encodable {
    let issuer: String
    let audience: String
    let keyID: String?
    let jwksURL: String?
    let statistics: Bool
  }

  @Option(name: .customLong("issuer"), help: "The `iss` of its certificates.")
  var authority: String

  @Option(
    name: .customLong("audience"),
    help: "The `aud` of its certificates; a new authority needs one.")
  var name: String?

  @Option(name: .customLong("key-id"), help: "The `kid` of its certificates.")
  var key: String?

  @Option(help: "Its P-256 public key, in PEM or DER.")
  var publicKey: String?

  @Option(name: .customLong("jwks-url"), help: "The page with its keys; read every 30 seconds.")
  var jwksURL: String?

  @Flag(name: .customLong("no-jwks-url"), help: "Stop reading the page with its keys.")
  var removesJWKSURL = false

  @Flag(
    inversion: .prefixedNo, help: "Allow it to request the statistics of its uploads, or not.")
  var statistics: Bool?

  @OptionGroup var register: RegistryCommandOptions

  func validate() throws {
    guard (key == nil) == (publicKey == nil) else {
      throw ValidationError("--key-id and --public-key must be used together.")
    }
    guard key != nil || jwksURL != nil || name != nil || removesJWKSURL || statistics != nil else {
      throw ValidationError("Name a key with --key-id and --public-key, or a page with --jwks-url.")
    }
    guard jwksURL.map({ WebAddress($0) != nil }) ?? true else {
      throw ValidationError("--jwks-url takes \(WebAddress.form).")
    }
    guard jwksURL == nil || !removesJWKSURL else {
      throw ValidationError("--jwks-url and --no-jwks-url exclude each other.")
    }
  }

  func run() async throws {
    let pem = try publicKey.map { try P256KeyFile($0, what: "public key").publicKeyPEM() }
    var change = HealthAuthorityChange(issuer: authority)
    change.audience = name
    change.addedKeysPEM = key.flatMap { key in pem.map { [key: $0] } } ?? [:]
    change.jwksURL = jwksURL.flatMap { URL(string: $0) }
    change.removesJWKSURL = removesJWKSURL
    change.seesStatistics = statistics
    let stored = try await register.setup().withRegistry(isNew: true) { [change] in
      try await $0.apply(change)
    }
    try register.write(
      Report(
        issuer: stored.issuer, audience: stored.audience, keyID: key,
        jwksURL: stored.jwksURL?.absoluteString, statistics: stored.seesStatistics),
      "Certificates of \(authority.printable) are accepted.")
  }
}

/// `authority list`
struct AuthorityListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the authorities of the settings, of realms and the added ones, with their keys."
  )

  private struct Report: Encodable {
    let authorities: [Entry]
  }

  private struct Entry: Encodable {
    let issuer: String
    let audience: String
    let keyIDs: [String]
    let withdrawnKeyIDs: [String]
    let jwksURL: String?
    let statistics: Bool
    /// True for our own verification server and those of realms, which no command changes.
    let isOwn: Bool
    /// True for a stored entry that the server ignores, because the settings or a realm have its issuer.
    let isIgnored: Bool

    init(_ registered: RegisteredAuthority) {
      let authority = registered.authority
      issuer = authority.issuer
      audience = authority.audience
      keyIDs = registered.keyIDs
      withdrawnKeyIDs = registered.withdrawnKeyIDs
      jwksURL = authority.jwksURL?.absoluteString
      statistics = authority.seesStatistics
      isOwn = registered.isOwn
      isIgnored = registered.isIgnored
    }

    var line: String {
      let keys = keyIDs.isEmpty ? "no keys" : "keys \(keyIDs.joined(separator: ", "))"
      let more = [
        withdrawnKeyIDs.isEmpty ? nil : "withdrawn \(withdrawnKeyIDs.joined(separator: ", "))",
        jwksURL.map { "page \($0)" }, statistics ? "statistics" : nil,
        isOwn ? "in the settings or of a realm" : nil,
        isIgnored ? "ignored: the settings or a realm have its issuer" : nil,
      ]
      return (["\(issuer) audience \(audience)", keys] + more.compactMap(\.self))
        .joined(separator: "; ").printable
    }
  }

  @OptionGroup var register: RegistryCommandOptions

  func run() async throws {
    let entries = try await register.setup().registeredAuthorities().map(Entry.init)
    try register.write(
      Report(authorities: entries), entries.map(\.line).joined(separator: "\n"))
  }
}

/// `authority remove`
struct AuthorityRemoveCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Refuse an authority's certificates; exit code 1 if it was not added.",
    discussion: "A running server follows within a minute. Withdrawn keys stay withdrawn.")

  private struct Report: Encodable {
    let issuer: String
    let removed: Bool
  }

  @Option(name: .customLong("issuer"), help: "The `iss` of its certificates.")
  var authority: String

  @OptionGroup var register: RegistryCommandOptions

  func run() async throws {
    let isRemoved = try await register.setup().withRegistry {
      try await $0.removeAuthority(authority)
    }
    try register.write(
      Report(issuer: authority, removed: isRemoved),
      "Certificates of \(authority.printable) are refused within a minute.", if: isRemoved,
      otherwise: "No authority \(authority.printable) was added: see `authority list`.")
  }
}

/// `authority withdraw-key`
struct AuthorityWithdrawKeyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "withdraw-key",
    abstract: "Refuse one key of an authority for good; exit code 1 if there is no such key.",
    discussion: """
      For a stolen key. A running server follows within a minute. The key is never accepted again: neither from the \
      page of the authority nor by `authority add`.
      """)

  private struct Report: Encodable {
    let issuer: String
    let keyID: String
    let withdrawn: Bool
  }

  @Option(name: .customLong("issuer"), help: "The `iss` of its certificates.")
  var authority: String

  @Option(name: .customLong("key-id"), help: "The `kid` of its certificates.")
  var key: String

  @OptionGroup var register: RegistryCommandOptions

  func run() async throws {
    let isWithdrawn = try await register.setup().withRegistry {
      try await $0.withdrawKey(key, of: authority)
    }
    try register.write(
      Report(issuer: authority, keyID: key, withdrawn: isWithdrawn),
      "The key \(key.printable) is refused within a minute, for good.", if: isWithdrawn,
      otherwise: "\(authority.printable) has no key \(key.printable) that is accepted: see"
        + " `authority list`.")
  }
}
