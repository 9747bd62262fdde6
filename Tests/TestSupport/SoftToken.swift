// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Tokens in software (SoftHSM), in a folder of the test.
public struct SoftToken: Sendable {
  /// The module of the Debian package softhsm2.
  public static let module = "/usr/lib/softhsm/libsofthsm2.so"
  /// The PIN of every token.
  public static let pin = "567812"

  /// The configuration of SoftHSM, which every process that uses the tokens needs.
  public let environment: [String: String]
  /// A file with the PIN, mode 0600.
  public let pinFile: URL
  private let folder: TemporaryFolder
  private var tokens: URL { folder.path("tokens") }
  private var removed: URL { folder.path("removed") }

  /// Creates a token for each label, with an empty list of keys.
  public init(labels: [String]) async throws {
    folder = try TemporaryFolder()
    pinFile = folder.path("pin")
    let configuration = folder.path("softhsm2.conf")
    environment = ["SOFTHSM2_CONF": configuration.path]
    for folder in [tokens, removed] {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }
    try Data(
      "directories.tokendir = \(tokens.path)\nobjectstore.backend = file\nlog.level = ERROR\n".utf8
    )
    .write(to: configuration)
    try setPIN(Self.pin)
    for label in labels {
      try await run(
        "/usr/bin/softhsm2-util",
        ["--init-token", "--free", "--label", label, "--so-pin", "12345678", "--pin", Self.pin])
    }
  }

  /// Replaces the content of the file with the PIN.
  public func setPIN(_ pin: String, permissions: Int = 0o600) throws {
    try Data((pin + "\n").utf8).write(to: pinFile)
    try FileManager.default.setAttributes(
      [.posixPermissions: permissions], ofItemAtPath: pinFile.path)
  }

  /// The serial number of a token.
  public func serial(of label: String) async throws -> String {
    let list = try await run(
      "/usr/bin/pkcs11-tool", ["--module", Self.module, "--list-token-slots"])
    var isOfToken = false
    for line in list.split(separator: "\n") {
      let field = line.split(separator: ":", maxSplits: 1).map {
        $0.trimmingCharacters(in: .whitespaces)
      }
      guard field.count == 2 else { continue }
      if field[0] == "token label" { isOfToken = field[1] == label }
      if field[0] == "serial num", isOfToken { return field[1] }
    }
    throw Failure(text: list)
  }

  /// Creates a key pair on a token.
  ///
  /// - Parameter isInteractive: True for a key that needs the PIN at each signature.
  public func createKey(
    _ label: String, on token: String, id: String, curve: String = "prime256v1",
    isInteractive: Bool = false
  ) async throws {
    try await run(
      "/usr/bin/pkcs11-tool",
      [
        "--module", Self.module, "--token-label", token, "--login", "--pin", Self.pin,
        "--keypairgen",
        "--key-type", "EC:\(curve)", "--label", label, "--id", id, "--usage-sign",
      ] + (isInteractive ? ["--always-auth"] : []))
  }

  /// The URI of a key.
  public func uri(_ key: String, on token: String, pinFile: String? = nil) -> String {
    "pkcs11:token=\(token);object=\(key)?module-path=\(Self.module)&pin-source=\(pinFile ?? self.pinFile.path)"
  }

  /// Takes all tokens away, as if their devices were pulled out.
  public func remove() throws { try Self.moveContent(of: tokens, to: removed) }

  /// Puts all tokens back.
  public func insert() throws { try Self.moveContent(of: removed, to: tokens) }

  private static func moveContent(of source: URL, to target: URL) throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: source.path) {
      try FileManager.default.moveItem(
        at: source.appendingPathComponent(name), to: target.appendingPathComponent(name))
    }
  }

  @discardableResult
  private func run(_ program: String, _ arguments: [String]) async throws -> String {
    let result = try await ChildProcess.run(
      URL(fileURLWithPath: program), arguments,
      environment: ProcessInfo.processInfo.environment.merging(environment) { $1 })
    guard result.status == 0 else { throw Failure(text: result.output + result.errors) }
    return result.output
  }

  /// A program of the token failed.
  private struct Failure: Error, CustomStringConvertible {
    let text: String
    var description: String { "install softhsm2 and opensc with make prepare-tests: \(text)" }
  }
}
