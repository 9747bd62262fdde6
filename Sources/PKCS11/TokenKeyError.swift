// SPDX-License-Identifier: Apache-2.0
import CPKCS11
import TextEncodings

/// The reason why a key on a token cannot be used. The description says what to do.
package enum TokenKeyError: Error, Hashable, Sendable {
  /// The URI is not usable; the text says why.
  case unusableURI(String)
  /// The module cannot be loaded.
  case missingModule(path: String, reason: String)
  /// No slot has the token.
  case missingToken(String)
  /// Several tokens have the label.
  case ambiguousToken(String)
  /// The token has no such private key, or the PIN does not open it.
  case missingKey(String)
  /// Several private keys have the label or the id.
  case ambiguousKey(String)
  /// The key is not one of P-256.
  case otherCurve(String)
  /// The key needs the PIN again at each signature.
  case interactiveKey(String)
  /// The token has the private key without a public one.
  case missingPublicKey(String)
  /// The key on the token is another one than before.
  case otherKey(String)
  /// The token needs a PIN, and the URI names no file with one.
  case missingPIN(String)
  /// The token refused the PIN.
  case wrongPIN(token: String, file: String, isLow: Bool)
  /// One more wrong PIN would lock the token, so the PIN was not tried.
  case lastTry(String)
  /// The token is locked after too many wrong PINs.
  case lockedPIN(String)
  /// The session or the token was lost during the call.
  case lost(token: String, function: String, code: UInt)
  /// A function of the module failed.
  case failed(module: String, function: String, code: UInt)
}

extension TokenKeyError {
  /// True if the machine, the module or the token failed; false if the URI, the key or the PIN has to be changed.
  package var isOfMachine: Bool {
    switch self {
    case .missingModule, .missingToken, .lost, .failed: true
    default: false
    }
  }
}

extension TokenKeyError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .unusableURI(let fault): "The PKCS#11 URI cannot be used: \(fault)."
    case .missingModule(let path, let reason):
      "The PKCS#11 module \(path) cannot be loaded: \(reason): check module-path, and install the token's software."
    case .missingToken(let token):
      "The token \(token) is not present: insert it, or start its service; `pkcs11-tool --list-token-slots` lists the"
        + " tokens."
    case .ambiguousToken(let token):
      "Several tokens are called \(token): name the one with serial in the URI."
    case .missingKey(let key):
      "The token has no private key \(key): `pkcs11-tool --list-objects` lists its keys."
    case .ambiguousKey(let key):
      "The token has several private keys \(key): name the one with object and id in the URI."
    case .otherCurve(let key): "The key \(key) is not a P-256 key: create one with EC:prime256v1."
    case .interactiveKey(let key):
      "The key \(key) needs the PIN at each signature (CKA_ALWAYS_AUTHENTICATE): create one that does not, because a"
        + " server signs without an operator."
    case .missingPublicKey(let key):
      "The token has no public key \(key) beside the private one: store it under the same label and id."
    case .otherKey(let key):
      "The key \(key) on the token is not the one that was registered: insert the right token."
    default: pinDescription
    }
  }

  private var pinDescription: String {
    switch self {
    case .missingPIN(let token):
      "The token \(token) needs a PIN: put it into a file with mode 0600, and name that with pin-source in the URI."
    case .wrongPIN(let token, let file, let isLow):
      "The token \(token) refused the PIN in \(file). It is not tried again before the file changes, because a token"
        + " locks itself after a few wrong PINs\(isLow ? ", and this one has counted wrong ones" : ""): correct the"
        + " file."
    case .lastTry(let token):
      "One more wrong PIN locks the token \(token), so no PIN was tried: log in with the token's own tool first."
    case .lockedPIN(let token):
      "The token \(token) is locked after too many wrong PINs: unlock it with its security officer's PIN."
    case .lost(let token, let function, let code):
      "The connection to the token \(token) was lost (\(function): \(Self.name(of: code))): insert the token, or start"
        + " its service."
    case .failed(let module, let function, let code):
      "The PKCS#11 module \(module) failed (\(function): \(Self.name(of: code))): check the token with pkcs11-tool."
    default: "The token cannot be used."
    }
  }

  /// The name of a return value in the standard, or its number.
  private static func name(of code: UInt) -> String {
    let names: [UInt: String] = [
      UInt(CKR_HOST_MEMORY): "CKR_HOST_MEMORY", UInt(CKR_GENERAL_ERROR): "CKR_GENERAL_ERROR",
      UInt(CKR_FUNCTION_FAILED): "CKR_FUNCTION_FAILED", UInt(CKR_DEVICE_ERROR): "CKR_DEVICE_ERROR",
      UInt(CKR_DEVICE_MEMORY): "CKR_DEVICE_MEMORY", UInt(CKR_DEVICE_REMOVED): "CKR_DEVICE_REMOVED",
      UInt(CKR_KEY_HANDLE_INVALID): "CKR_KEY_HANDLE_INVALID",
      UInt(CKR_OBJECT_HANDLE_INVALID): "CKR_OBJECT_HANDLE_INVALID",
      UInt(CKR_SESSION_CLOSED): "CKR_SESSION_CLOSED",
      UInt(CKR_SESSION_HANDLE_INVALID): "CKR_SESSION_HANDLE_INVALID",
      UInt(CKR_TOKEN_NOT_PRESENT): "CKR_TOKEN_NOT_PRESENT",
      UInt(CKR_TOKEN_NOT_RECOGNIZED): "CKR_TOKEN_NOT_RECOGNIZED",
      UInt(CKR_USER_NOT_LOGGED_IN): "CKR_USER_NOT_LOGGED_IN",
      UInt(CKR_MECHANISM_INVALID): "CKR_MECHANISM_INVALID",
      UInt(CKR_KEY_FUNCTION_NOT_PERMITTED): "CKR_KEY_FUNCTION_NOT_PERMITTED",
      UInt(CKR_CRYPTOKI_NOT_INITIALIZED): "CKR_CRYPTOKI_NOT_INITIALIZED",
    ]
    return names[code] ?? "0x" + withUnsafeBytes(of: code.bigEndian) { $0.hexadecimal }
  }
}
