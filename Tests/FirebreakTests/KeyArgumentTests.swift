// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import ServedSystem
import TestSupport
import Testing

/// The keys of `--public-key` and `--signing-key`. `P256KeyFileTests` has all forms; here every option reads one of
/// the unusual ones, and names a file that it cannot use.
@Suite("Options that take a key", .needs(.process))
struct KeyArgumentTests {
  private let folder: TemporaryFolder
  private let made: HandmadeKeyFile
  private let zip: String

  init() throws {
    folder = try TemporaryFolder()
    try ServedAuthority.prepare(folder)
    made = try HandmadeKeyFile()
    zip = folder.path("keys.zip").path
    try Data(made.zip.bytes).write(to: folder.path("keys.zip"))
  }

  private func write(_ content: Data, _ name: String) throws -> String {
    try content.write(to: folder.path(name))
    return folder.path(name).path
  }

  /// The public key in DER, with a compressed point.
  private var compressed: Data {
    Data([
      0x30, 0x39, 0x30, 0x13, 6, 7, 0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1, 6, 8, 0x2a, 0x86, 0x48,
      0xce, 0x3d, 3, 1, 7, 3, 0x22, 0,
    ]) + made.privateKey.publicKey.compressedRepresentation
  }

  @Test("verify and match read a compressed key in DER")
  func compressedKey() async throws {
    let key = try write(compressed, "public.der")
    let verified = try await Run("keyfile", "verify", zip, "--public-key", key)
    #expect(verified.status == 0 && verified.errors.isEmpty, "\(verified.errors)")
    let sightings = try write(Data("rpi,aem,unix_time,rssi\n".utf8), "sightings.csv")
    let match = try await Run("match", "--sightings", sightings, "--public-key", key, zip)
    #expect(match.status == 0 && match.errors.isEmpty, "\(match.errors)")
  }

  @Test("Of two keys the first one is used, with a note")
  func twoKeys() async throws {
    let (first, second) = (made.privateKey.publicKey, P256.Signing.PrivateKey().publicKey)
    let right = try write(
      Data((first.pemRepresentation + "\n" + second.pemRepresentation).utf8), "right.pem")
    let run = try await Run("keyfile", "verify", zip, "--public-key", right)
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.errors.contains("right.pem has 2 keys: only the first one is used."))
    let wrong = try write(
      Data((second.pemRepresentation + "\n" + first.pemRepresentation).utf8), "wrong.pem")
    #expect(try await Run("keyfile", "verify", zip, "--public-key", wrong).status == 1)
  }

  @Test("make signs with a key in DER")
  func signingKey() async throws {
    let key = try write(made.privateKey.derRepresentation, "private.der")
    let output = folder.path("made.zip").path
    let run = try await make(signingKey: key, output: output)
    #expect(run.status == 0, "\(run.errors)")
    let publicKey = try write(compressed, "public.der")
    #expect(try await Run("keyfile", "verify", output, "--public-key", publicKey).status == 0)
  }

  @Test("authority add accepts a compressed key in DER")
  func authority() async throws {
    let key = try write(compressed, "public.der")
    let added = try await Run(authorityAdd + [key])
    #expect(added.status == 0, "\(added.errors)")
  }

  @Test("A key of the wrong kind is rejected by every command, with its name and the cause")
  func wrongKind() async throws {
    let text = made.privateKey.pemRepresentation
    let privateKey = try write(Data(text.utf8), "private.pem")
    let publicKey = try write(
      Data(made.privateKey.publicKey.pemRepresentation.utf8), "public.pem")
    let other = try write(
      Data(P384.Signing.PrivateKey().publicKey.pemRepresentation.utf8), "p384.pem")
    let sightings = try write(Data("rpi,aem,unix_time,rssi\n".utf8), "sightings.csv")
    let bench = [
      "bench", "publish", "--target", "http://127.0.0.1:1", "--issuer", "a", "--audience", "b",
      "--key-id", "c", "--application", "d", "--signing-key",
    ]
    for (run, name, cause) in [
      (
        try await Run("keyfile", "verify", zip, "--public-key", privateKey), "private.pem",
        "it is a private key"
      ),
      (
        try await Run("match", "--sightings", sightings, "--public-key", other, zip), "p384.pem",
        "it is a key of the curve P-384"
      ),
      (try await Run(authorityAdd + [other]), "p384.pem", "it is a key of the curve P-384"),
      (
        try await make(signingKey: publicKey, output: folder.path("made.zip").path), "public.pem",
        "it is a public key"
      ),
      (try await Run(bench + [publicKey]), "public.pem", "it is a public key"),
      (
        try await Run("keyfile", "verify", zip, "--public-key", folder.url.path),
        folder.url.lastPathComponent, "it is a folder"
      ),
      (
        try await Run("keyfile", "verify", zip, "--public-key", folder.path("none").path), "none",
        "there is no such file"
      ),
    ] {
      #expect(run.status == 2 && run.output.isEmpty, "\(run.output)")
      #expect(run.errors.contains(name) && run.errors.contains(cause), "\(run.errors)")
      #expect(run.errors.split(separator: "\n").count == 1, "\(run.errors)")
    }
  }

  private var authorityAdd: [String] {
    [
      "key-server", "authority", "add", "--issuer", "clinic", "--audience", "keys", "--key-id",
      "v1", "--data", folder.path("data").path, "--public-key",
    ]
  }

  private func make(signingKey: String, output: String) async throws -> Run {
    let key = Data(repeating: 9, count: 16).base64EncodedString()
    let keys = try write(
      Data(#"{"temporaryExposureKeys": [{"key": "\#(key)", "rollingStartNumber": 1}]}"#.utf8),
      "keys.json")
    return try await Run(
      "keyfile", "make", "--keys", keys, "--signing-key", signingKey, "--key-id", "260",
      "--key-version", "v1", "--region", "PL", "--start", "1590159600", "--end", "1590246000",
      "--output", output)
  }
}
