// SPDX-License-Identifier: Apache-2.0
/// The content of a key file, or of a part of it.
enum KeyContent: Equatable {
  case publicKey
  case privateKey
  case encryptedPrivateKey
  case certificate
  case certificateRequest
  /// A file of PKCS#12, which may have a key.
  case pkcs12
  /// A key in a form of OpenSSH, with the name of its kind if that is known.
  case openSSH(String?)
  /// The parameters of a curve, without a key.
  case curve
  /// Another content, such as "an RSA key".
  case other(String)

  /// The content of a block, by its label.
  init(_ block: PEMBlock) {
    switch block.label {
    case "PUBLIC KEY", "EC PUBLIC KEY": self = .publicKey
    case "PRIVATE KEY", "EC PRIVATE KEY":
      self = block.isEncrypted ? .encryptedPrivateKey : .privateKey
    case "ENCRYPTED PRIVATE KEY": self = .encryptedPrivateKey
    case "CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE": self = .certificate
    case "EC PARAMETERS": self = .curve
    case "CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST": self = .certificateRequest
    case "RSA PUBLIC KEY", "RSA PRIVATE KEY": self = .other("an RSA key")
    case "OPENSSH PRIVATE KEY":
      // The kind of a damaged block is not known.
      self = .openSSH((try? block.content()).flatMap { Self.openSSHKind(in: $0) })
    case "PKCS7", "CMS": self = .other("a PKCS#7 file")
    case let label where label.hasPrefix("PGP "): self = .other("a PGP key")
    default: self = .other("a block \(block.label)")
    }
  }

  /// The fault of a file with `content` where this content is wanted.
  func fault(insteadOf content: KeyContent?) -> KeyFault {
    switch (self, content) {
    case (.publicKey, .privateKey):
      KeyFault("it is a private key", "write its public half with openssl pkey -in FILE -pubout")
    case (.publicKey, .encryptedPrivateKey):
      KeyFault(
        "it is an encrypted private key", "write its public half with openssl pkey -in FILE -pubout"
      )
    case (.publicKey, .certificate):
      KeyFault("it is a certificate", "write its key with openssl x509 -in FILE -noout -pubkey")
    case (_, .encryptedPrivateKey):
      KeyFault("it is encrypted", "decrypt it with openssl pkey -in FILE -out DECRYPTED")
    case (_, .publicKey):
      KeyFault("it is a public key", "give the private key that belongs to it")
    case (_, .certificate):
      KeyFault("it is a certificate", "give the private key that belongs to it")
    case (.publicKey, .certificateRequest):
      KeyFault(
        "it is a certificate request", "write its key with openssl req -in FILE -noout -pubkey")
    case (_, .certificateRequest):
      KeyFault("it is a certificate request", "give the private key that belongs to it")
    case (.publicKey, .pkcs12):
      KeyFault("it is a PKCS#12 file", "write its certificate with openssl pkcs12 -nokeys -in FILE")
    case (_, .pkcs12):
      KeyFault("it is a PKCS#12 file", "write its key with openssl pkcs12 -nocerts -nodes -in FILE")
    case (_, .openSSH(let kind?)) where kind != Self.openSSHP256:
      .anotherKey("an OpenSSH key of the kind \(kind)")
    case (.publicKey, .openSSH):
      KeyFault("it is an OpenSSH key", "write it in PEM with ssh-keygen -e -m PKCS8 -f FILE")
    case (_, .openSSH):
      KeyFault("it is an OpenSSH key", "change a copy to PEM with ssh-keygen -p -m PKCS8 -f COPY")
    case (_, .curve): KeyFault("it has the name of a curve and no key", "give the file of the key")
    case (_, .other(let kind)): .anotherKey(kind)
    case (_, .privateKey), (_, nil):
      KeyFault("it has no key in PEM or DER", "give the file of a P-256 key")
    }
  }
}

// MARK: - Forms of OpenSSH

extension KeyContent {
  private static let openSSHP256 = "ecdsa-sha2-nistp256"
  private static let openSSHKinds = [
    openSSHP256, "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", "ssh-ed25519", "ssh-rsa", "ssh-dss",
  ]

  /// The content of a text that is a public key of OpenSSH in one line, of SSH2, or a key of PuTTY; nil if it is none.
  init?(sshText text: String) {
    let kind = Self.openSSHKinds.first { text.hasPrefix("\($0) ") }
    if let kind {
      self = .openSSH(kind)
    } else if text.hasPrefix("---- BEGIN SSH2 ") {
      self = .other("a key in the form of SSH2")
    } else if text.hasPrefix("PuTTY-User-Key-File") {
      self = .other("a key in the form of PuTTY")
    } else {
      return nil
    }
  }

  /// The name of the kind in the content of a private key of OpenSSH.
  private static func openSSHKind(in content: [UInt8]) -> String? {
    let text = String(decoding: content, as: UTF8.self)
    return openSSHKinds.first { text.contains($0) }
  }
}
