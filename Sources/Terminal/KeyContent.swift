// SPDX-License-Identifier: Apache-2.0
/// The content of a key file, or of a part of it.
enum KeyContent: Equatable {
  case publicKey
  case privateKey
  case encryptedPrivateKey
  case certificate
  /// The parameters of a curve, without a key.
  case curve
  /// Another content, such as "a certificate request".
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
    case "CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST": self = .other("a certificate request")
    case "RSA PUBLIC KEY", "RSA PRIVATE KEY": self = .other("an RSA key")
    case "OPENSSH PRIVATE KEY": self = .other("an OpenSSH key")
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
    case (_, .curve): KeyFault("it has the name of a curve and no key", "give the file of the key")
    case (_, .other(let kind)): .anotherKey(kind)
    case (_, .privateKey), (_, nil):
      KeyFault("it has no key in PEM or DER", "give the file of a P-256 key")
    }
  }
}
