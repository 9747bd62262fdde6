// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import Secrets

/// A file with a P-256 key: PEM as OpenSSL accepts it, or DER.
///
/// Every command that takes a key reads it here, those of secret files only as PEM. The result is PEM in the one form
/// that the servers and the framework accept. Documentation/CommandLine.md, "Keys", has the forms.
package struct P256KeyFile {
  /// The largest file that is read, in bytes: some certificates as text, and room.
  package static let byteCountMax = 1 << 20

  /// The subject of error messages, such as `The public key public.pem`.
  private let subject: String
  private let content: Data

  /// Reads the file at `path`; `what` names its purpose in error messages.
  ///
  /// - Throws: `CommandFailure` if the file cannot be read.
  package init(_ path: String, what: String) throws {
    content = try InputFile(path, what: what, byteCountMax: Self.byteCountMax).content
    subject = "The \(what) \(path.printable)"
  }

  /// The key in `content`; error messages start with `subject`.
  package init(_ content: Data, subject: String) {
    (self.content, self.subject) = (content, subject)
  }

  /// The public key in PEM.
  ///
  /// - Throws: `CommandFailure` that says what the file has instead.
  package func publicKeyPEM() throws -> String {
    try key(.publicKey) { (content, _) throws(KeyFault) in
      try P256KeyDER.publicKey(content).pemRepresentation
    }
  }

  /// The private key in PEM (PKCS#8).
  ///
  /// - Throws: `CommandFailure` that says what the file has instead.
  package func privateKeyPEM() throws -> String {
    try key(.privateKey) { (content, curve) throws(KeyFault) in
      try P256KeyDER.privateKey(content, curve: curve).pemRepresentation
    }
  }

  /// The first key of the wanted kind; prints a note if there are more.
  ///
  /// - Parameter read: Reads the key from its DER and the DER of the curve that is named before it, if one is.
  private func key<Key>(
    _ wanted: KeyContent, _ read: ([UInt8], [UInt8]?) throws(KeyFault) -> Key
  ) throws -> Key {
    do throws(KeyFault) {
      let (parts, fault) = try parts()
      guard let index = parts.firstIndex(where: { $0.kind == wanted }) else {
        if let fault { throw fault }
        let other = parts.first { $0.kind != .curve } ?? parts.first
        throw wanted.fault(insteadOf: other?.kind)
      }
      let curve = try parts[..<index].last { $0.kind == .curve }?.content()
      let key = try read(try parts[index].content(), curve)
      let count = parts.count { $0.kind == wanted }
      if count > 1 {
        note("\(subject) has \(count) keys: only the first one is used.")
      }
      return key
    } catch {
      throw CommandFailure.badInput("\(subject) cannot be used: \(error.cause); \(error.remedy).")
    }
  }

  private struct Part: Redacted {
    let kind: KeyContent
    let block: PEMBlock?
    let der: [UInt8]

    func content() throws(KeyFault) -> [UInt8] {
      try block?.content() ?? der
    }
  }

  /// The blocks of a PEM file up to a damaged one, with its fault, or the whole file if it is DER.
  private func parts() throws(KeyFault) -> ([Part], KeyFault?) {
    let (blocks, fault) = PEMBlock.blocks(in: content)
    guard blocks.isEmpty, fault == nil else {
      return (blocks.map { Part(kind: KeyContent($0), block: $0, der: []) }, fault)
    }
    guard !content.allSatisfy({ Character(Unicode.Scalar($0)).isWhitespace }) else {
      throw KeyFault("the file is empty", "check its name")
    }
    if let kind = KeyContent(sshText: String(decoding: content, as: UTF8.self)) {
      return ([Part(kind: kind, block: nil, der: [])], nil)
    }
    let der = [UInt8](content)
    guard let kind = P256KeyDER.kind(of: der) else { throw EncodedKey.fault(of: content) }
    return ([Part(kind: kind, block: nil, der: der)], nil)
  }
}

extension P256KeyFile: Redacted {}
