// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import TestSupport
import Testing

@testable import Terminal

/// A block of PEM with `base64`, in lines of `width` characters.
private func pem(_ label: String, _ base64: String, width: Int = 64) -> String {
  var (lines, rest) = ([String](), base64[...])
  while !rest.isEmpty {
    lines.append(String(rest.prefix(width)))
    rest = rest.dropFirst(width)
  }
  return "-----BEGIN \(label)-----\n\(lines.joined(separator: "\n"))\n-----END \(label)-----\n"
}

@Suite("Files of P-256 keys")
struct P256KeyFileTests {
  private func publicKey(_ content: Data) throws -> String {
    try P256KeyFile(content, subject: "The key").publicKeyPEM()
  }

  private func privateKey(_ content: Data) throws -> String {
    try P256KeyFile(content, subject: "The key").privateKeyPEM()
  }

  /// The key of all valid examples, as swift-crypto reads it.
  private static let key = try? P256.Signing.PrivateKey(
    pemRepresentation: pem("PRIVATE KEY", OpenSSLKeys.pkcs8))

  private static let usual = pem("PUBLIC KEY", OpenSSLKeys.uncompressed)

  static let validPublicKeys: [(String, String)] = [
    ("the usual form", usual),
    ("compressed", pem("PUBLIC KEY", OpenSSLKeys.compressed)),
    ("hybrid", pem("PUBLIC KEY", OpenSSLKeys.hybrid)),
    ("explicit parameters", pem("PUBLIC KEY", OpenSSLKeys.explicit)),
    ("explicit and compressed", pem("PUBLIC KEY", OpenSSLKeys.explicitCompressed)),
    ("text around it", "Key of the authority: v1\n\n" + usual + "valid since 2020\n"),
    ("a byte order mark", "\u{feff}" + usual),
    ("one line of base64", pem("PUBLIC KEY", OpenSSLKeys.uncompressed, width: 1_000)),
    ("76 columns", pem("PUBLIC KEY", OpenSSLKeys.uncompressed, width: 76)),
    ("one line", usual.filter { !$0.isNewline }),
    ("one line with spaces", usual.replacing("\n", with: " ")),
    ("CR LF", usual.replacing("\n", with: "\r\n")),
    ("CR", usual.replacing("\n", with: "\r")),
    ("indented", usual.replacing("\n", with: "\n  ")),
    ("without a newline at the end", String(usual.dropLast())),
    ("header fields", usual.replacing("KEY-----\nM", with: "KEY-----\nComment: a\n\nM")),
    ("behind a private key", pem("EC PRIVATE KEY", OpenSSLKeys.sec1) + usual),
    ("behind a certificate", pem("CERTIFICATE", OpenSSLKeys.certificate) + usual),
    ("before another key", usual + P256.Signing.PrivateKey().publicKey.pemRepresentation),
    ("behind a mention of PEM", "a file with -----BEGIN and\n" + usual),
  ]

  @Test("A public key in any form that OpenSSL writes is read", arguments: validPublicKeys)
  func publicKeys(title: String, text: String) throws {
    let expected = try #require(Self.key).publicKey.pemRepresentation
    #expect(try publicKey(Data(text.utf8)) == expected, "\(title)")
  }

  static let validPrivateKeys: [(String, String)] = [
    ("PKCS#8", pem("PRIVATE KEY", OpenSSLKeys.pkcs8)),
    ("SEC1", pem("EC PRIVATE KEY", OpenSSLKeys.sec1)),
    (
      "a curve before SEC1",
      pem("EC PARAMETERS", "BggqhkjOPQMBBw==") + pem("EC PRIVATE KEY", OpenSSLKeys.sec1)
    ),
    ("SEC1, compressed", pem("EC PRIVATE KEY", OpenSSLKeys.sec1Compressed)),
    ("SEC1, explicit parameters", pem("EC PRIVATE KEY", OpenSSLKeys.sec1Explicit)),
    ("SEC1 without public key", pem("EC PRIVATE KEY", OpenSSLKeys.sec1WithoutPublicKey)),
    ("one line", pem("PRIVATE KEY", OpenSSLKeys.pkcs8).filter { !$0.isNewline }),
    ("CR LF", pem("PRIVATE KEY", OpenSSLKeys.pkcs8).replacing("\n", with: "\r\n")),
    ("a byte order mark", "\u{feff}" + pem("PRIVATE KEY", OpenSSLKeys.pkcs8)),
    ("behind a certificate", pem("CERTIFICATE", OpenSSLKeys.certificate) + usualPrivateKey),
    ("before another key", usualPrivateKey + P256.Signing.PrivateKey().pemRepresentation),
  ]

  private static let usualPrivateKey = pem("PRIVATE KEY", OpenSSLKeys.pkcs8)

  @Test("A private key in any form that OpenSSL writes is read", arguments: validPrivateKeys)
  func privateKeys(title: String, text: String) throws {
    let expected = try #require(Self.key).pemRepresentation
    #expect(try privateKey(Data(text.utf8)) == expected, "\(title)")
  }

  @Test("A key in DER is read, also with a newline behind it")
  func der() throws {
    let key = try #require(Self.key)
    for base64 in [OpenSSLKeys.uncompressed, OpenSSLKeys.compressed, OpenSSLKeys.explicit] {
      let der = try #require(Data(base64Encoded: base64))
      #expect(try publicKey(der) == key.publicKey.pemRepresentation)
      #expect(try publicKey(der + [0x0a]) == key.publicKey.pemRepresentation)
    }
    for base64 in [OpenSSLKeys.pkcs8, OpenSSLKeys.sec1, OpenSSLKeys.sec1WithoutPublicKey] {
      #expect(try privateKey(try #require(Data(base64Encoded: base64))) == key.pemRepresentation)
    }
  }

  static let invalidPublicKeys: [(String, String)] = [
    (pem("PUBLIC KEY", OpenSSLKeys.p384), "it is a key of the curve P-384; give a P-256 key"),
    (pem("PUBLIC KEY", OpenSSLKeys.brainpool), "it is a key of the curve brainpoolP256r1"),
    (pem("PUBLIC KEY", OpenSSLKeys.rsa), "it is an RSA key; give a P-256 key"),
    (pem("RSA PUBLIC KEY", "MAA="), "it is an RSA key; give a P-256 key"),
    (pem("PUBLIC KEY", OpenSSLKeys.ed25519), "it is an Ed25519 key; give a P-256 key"),
    (pem("CERTIFICATE", OpenSSLKeys.certificate), "it is a certificate; write its key with"),
    (pem("CERTIFICATE REQUEST", OpenSSLKeys.request), "it is a certificate request"),
    (pem("EC PRIVATE KEY", OpenSSLKeys.sec1), "it is a private key; write its public half with"),
    (pem("PRIVATE KEY", OpenSSLKeys.p384PrivateKey), "it is a private key"),
    (pem("ENCRYPTED PRIVATE KEY", OpenSSLKeys.encryptedPKCS8), "it is an encrypted private key"),
    (pem("EC PARAMETERS", "BggqhkjOPQMBBw=="), "it has the name of a curve and no key"),
    (pem("OPENSSH PRIVATE KEY", "AAAA"), "it is an OpenSSH key"),
    ("ecdsa-sha2-nistp256 AAAAE2VjZHNh me@host", "it is an OpenSSH key"),
    ("", "the file is empty"), (" \n", "the file is empty"),
    ("no key", "it has no key in PEM or DER"),
    (OpenSSLKeys.uncompressed, "write -----BEGIN PUBLIC KEY----- before it"),
    (OpenSSLKeys.certificate, "write -----BEGIN CERTIFICATE----- before it"),
    (pem("OPENSSH PRIVATE KEY", "ZWNkc2Etc2hhMi1uaXN0cDI1Ng=="), "ssh-keygen -e -m PKCS8 -f FILE"),
    ("ecdsa-sha2-nistp384 AAAA me@host", "an OpenSSH key of the kind ecdsa-sha2-nistp384"),
    ("ssh-ed25519 AAAA me@host", "an OpenSSH key of the kind ssh-ed25519; give a P-256 key"),
    ("---- BEGIN SSH2 PUBLIC KEY ----", "it is a key in the form of SSH2"),
    ("PuTTY-User-Key-File-3: ecdsa-sha2-nistp256", "it is a key in the form of PuTTY"),
    (#"{"kty": "EC", "crv": "P-256"}"#, "it is a JSON Web Key"),
    (#"{"keys": [{"kty": "EC"}]}"#, "it is a JSON Web Key"),
    ("<!DOCTYPE html><p>404", "it is a web page; download the file itself"),
    (
      usual.replacing("\n", with: #"\n"#),
      #"the line breaks of the block PUBLIC KEY are written as \n"#
    ),
    (pem("PKCS7", "MAA="), "it is a PKCS#7 file"),
    (pem("PGP PUBLIC KEY BLOCK", "MAA="), "it is a PGP key"),
    (pem("CERTIFICATE REQUEST", OpenSSLKeys.request), "openssl req -in FILE -noout -pubkey"),
    ("04" + String(repeating: "5c", count: 64), "it is the point of a key without its curve"),
    (String(usual.dropLast(30)), "-----END PUBLIC KEY----- is missing"),
    (usual.dropLast(30) + usual, "-----END PUBLIC KEY----- is missing"),
    (usual.replacing("MFkw", with: "M*kw"), "is not base64"),
    (usual.replacing("MFkw", with: "MFgw"), "its DER is damaged"),
    (usual.replacing("XOQV", with: "XOQW"), "its point is not on the curve P-256"),
    (pem("PUBLIC KEY", OpenSSLKeys.hybrid).replacing("cmQ==", with: "cmA=="), "not on the curve"),
    (pem("PUBLIC KEY", "MAA="), "its DER is damaged"),
  ]

  @Test(
    "A file without a P-256 public key is rejected with the cause", arguments: invalidPublicKeys)
  func publicFaults(text: String, cause: String) throws {
    try expect(cause) { try publicKey(Data(text.utf8)) }
  }

  static let invalidPrivateKeys: [(String, String)] = [
    (usual, "it is a public key; give the private key that belongs to it"),
    (pem("CERTIFICATE", OpenSSLKeys.certificate), "it is a certificate; give the private key"),
    (pem("ENCRYPTED PRIVATE KEY", OpenSSLKeys.encryptedPKCS8), "it is encrypted; decrypt it with"),
    (
      pem("EC PRIVATE KEY", OpenSSLKeys.encryptedSEC1).replacing(
        "KEY-----\nr", with: "KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,4FEB\n\nr"),
      "it is encrypted; decrypt it with"
    ),
    (pem("PRIVATE KEY", OpenSSLKeys.p384PrivateKey), "it is a key of the curve P-384"),
    (
      pem("EC PARAMETERS", "BgUrgQQAIg==") + pem("EC PRIVATE KEY", OpenSSLKeys.sec1WithoutCurve),
      "it is a key of the curve P-384"
    ),
    (pem("RSA PRIVATE KEY", "MAA="), "it is an RSA key"),
    (
      usualPrivateKey.replacing("fMcC", with: "fMcD"),
      "the public key does not match the private key"
    ),
    (
      pem("EC PRIVATE KEY", "MCUCAQEEIP" + String(repeating: "/", count: 42)),
      "the private scalar is out of the range of P-256"
    ),
  ]

  @Test(
    "A file without a P-256 private key is rejected with the cause", arguments: invalidPrivateKeys)
  func privateFaults(text: String, cause: String) throws {
    try expect(cause) { try privateKey(Data(text.utf8)) }
  }

  @Test("A private key that does not name its curve is rejected without EC PARAMETERS before it")
  func withoutCurve() throws {
    let text = pem("EC PRIVATE KEY", OpenSSLKeys.sec1WithoutCurve)
    try expect("it does not name its curve") { try privateKey(Data(text.utf8)) }
    let named = pem("EC PARAMETERS", "BggqhkjOPQMBBw==") + text
    #expect(try privateKey(Data(named.utf8)) == Self.key?.pemRepresentation)
  }

  @Test("A truncated block behind the key is ignored, and one in its place is reported")
  func truncatedBlocks() throws {
    let truncated = "-----BEGIN CERTIFICATE-----\nMIIB\n"
    let key = pem("EC PRIVATE KEY", OpenSSLKeys.sec1)
    #expect(try privateKey(Data((key + truncated).utf8)) == Self.key?.pemRepresentation)
    try expect("it is truncated") { try publicKey(Data((key + truncated).utf8)) }
  }

  static let otherDER: [(String, String)] = [
    (OpenSSLKeys.pkcs8, "it is a private key"), (OpenSSLKeys.sec1, "it is a private key"),
    (OpenSSLKeys.certificate, "it is a certificate"),
    (OpenSSLKeys.request, "it is a certificate or a certificate request"),
    (OpenSSLKeys.encryptedPKCS8, "it is an encrypted private key"),
    (OpenSSLKeys.p384, "it is a key of the curve P-384"), (OpenSSLKeys.rsa, "it is an RSA key"),
  ]

  @Test("Another content in DER is rejected with the cause", arguments: otherDER)
  func derFaults(base64: String, cause: String) throws {
    try expect(cause) { try publicKey(try #require(Data(base64Encoded: base64))) }
  }

  @Test("A key in another encoding is rejected with its name")
  func encodings() throws {
    let der = try #require(Data(base64Encoded: OpenSSLKeys.uncompressed))
    let key = try #require(Self.key).publicKey
    let utf16 = Data([0xff, 0xfe]) + Self.usual.utf16.flatMap { [UInt8($0 & 0xff), 0] }
    for (content, cause) in [
      (Data(der.map { String(format: "%02X", $0) }.joined(separator: ":").utf8), "xxd -r -p"),
      (key.x963Representation, "the point of a key"),
      (key.compressedRepresentation, "the point of a key"),
      (utf16, "it is text in UTF-16; save it in UTF-8"),
      (Data([0x1f, 0x8b, 8, 0]), "it is a gzip file; unpack it with gunzip"),
    ] {
      try expect(cause) { try publicKey(content) }
    }
    let privateKey = OpenSSLKeys.pkcs8
    try expect("write -----BEGIN PRIVATE KEY----- before it") {
      try self.privateKey(Data(privateKey.utf8))
    }
    let openSSH = pem("OPENSSH PRIVATE KEY", "ZWNkc2Etc2hhMi1uaXN0cDI1Ng==")
    try expect("ssh-keygen -p -m PKCS8 -f COPY") { try self.privateKey(Data(openSSH.utf8)) }
  }

  @Test("Explicit parameters with one changed byte are not P-256")
  func changedParameters() throws {
    let der = try #require(Data(base64Encoded: OpenSSLKeys.explicit))
    let seed = try #require(Data(base64Encoded: "xJ02CIbnBJNqZnjhE50mt4GffpA="))
    // The parameters end before the key's own point. The seed, from which the curve was made, is not compared.
    let end = try #require(der.range(of: Data([3, 0x42, 0, 4, 0x5c, 0xe4]))).lowerBound
    let seedStart = try #require(der.range(of: seed)).lowerBound - 3
    let prime = try #require(der.range(of: Data([2, 0x21, 0, 0xff]))).lowerBound + 2
    for position in prime..<end - 3 where !(seedStart..<seedStart + 23).contains(position) {
      var changed = der
      changed[position] ^= 1
      #expect(throws: CommandFailure.self, "\(position)") { try publicKey(changed) }
    }
  }

  @Test("A key with any bit changed or any byte missing is rejected or another valid key")
  func damaged() throws {
    for base64 in [OpenSSLKeys.uncompressed, OpenSSLKeys.sec1, OpenSSLKeys.pkcs8] {
      let der = try #require(Data(base64Encoded: base64))
      for position in der.indices {
        for bit in 0..<8 {
          var changed = der
          changed[position] ^= 1 << bit
          for read in [publicKey, privateKey] {
            guard let pem = try? read(changed) else { continue }
            #expect(pem.hasPrefix("-----BEGIN P"))
          }
        }
        for read in [publicKey, privateKey] {
          #expect(throws: CommandFailure.self) { try read(der.prefix(position)) }
        }
      }
    }
  }

  @Test("A file that cannot be read is named with the cause")
  func files() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("key.pem").path
    try expect("The public key \(path) cannot be read: there is no such file; check its name.") {
      try P256KeyFile(path, what: "public key").publicKeyPEM()
    }
    try expect("The public key \(folder.url.path) cannot be read: it is a folder; name a file.") {
      try P256KeyFile(folder.url.path, what: "public key").publicKeyPEM()
    }
    try Data().write(to: URL(fileURLWithPath: path))
    try expect("The signing key \(path) cannot be used: the file is empty; check its name.") {
      try P256KeyFile(path, what: "signing key").privateKeyPEM()
    }
    try Data(Self.usual.utf8).write(to: URL(fileURLWithPath: path))
    let pem = try P256KeyFile(path, what: "key").publicKeyPEM()
    #expect(pem.split(separator: "\n") == Self.usual.split(separator: "\n"))
  }

  @Test("A file of the largest size is read, a larger one is not", arguments: [0, 1])
  func size(over: Int) throws {
    let folder = try TemporaryFolder()
    let path = folder.path("key.pem").path
    let count = P256KeyFile.byteCountMax - Self.usual.utf8.count + over
    try Data((Self.usual + String(repeating: "\n", count: count)).utf8)
      .write(to: URL(fileURLWithPath: path))
    if over == 0 {
      #expect(throws: Never.self) { try P256KeyFile(path, what: "key").publicKeyPEM() }
    } else {
      try expect("is too large") { try P256KeyFile(path, what: "key").publicKeyPEM() }
    }
  }

  @Test("A key file prints only its type")
  func redacted() {
    let file = P256KeyFile(Data(Self.usualPrivateKey.utf8), subject: "The key")
    var dumped = ""
    dump(file, to: &dumped)
    #expect("\(file)" == "P256KeyFile" && !dumped.contains("content"))
  }

  /// Expects a failure with one line that contains `cause`, and no text of the key.
  private func expect(_ cause: String, _ read: () throws -> String) throws {
    let failure = try #require(#expect(throws: CommandFailure.self) { try read() })
    #expect(failure.status == .badInput)
    #expect(failure.message.contains(cause), "\(failure.message)")
    #expect(!failure.message.contains("\n") && failure.message.hasSuffix("."))
    #expect(!failure.message.contains("MFkw") && !failure.message.contains("fMcC"))
  }
}
