// SPDX-License-Identifier: Apache-2.0
import CPKCS11
import Secrets

/// A session with a token. It belongs to the lock of its module.
struct OpenToken: Sendable {
  /// The result of a login.
  enum Login {
    case accepted, wrong, locked
    /// An earlier session of this process has logged in, and the PIN was not compared.
    case notNeeded
  }

  // The table of the module, which is constant.
  private nonisolated(unsafe) let functions: UnsafeMutablePointer<CK_FUNCTION_LIST>
  private let name: TokenKeyURI.TokenName
  private let module: String
  private let slot: CK_SLOT_ID
  private let session: CK_SESSION_HANDLE
  /// The flags of the token before the login.
  let flags: CK_FLAGS
  /// The token, whichever attributes the URI names.
  let identity: TokenIdentity

  /// Opens a session with the one token that has the name.
  init(
    _ name: TokenKeyURI.TokenName, of functions: UnsafeMutablePointer<CK_FUNCTION_LIST>,
    _ module: String
  ) throws {
    let call = TokenCall(token: name.description, module: module)
    let found = try Self.slots(functions, call).filter { name.matches($0.info) }
    guard let slot = found.first else { throw TokenKeyError.missingToken(name.description) }
    guard found.count == 1 else { throw TokenKeyError.ambiguousToken(name.description) }
    var session: CK_SESSION_HANDLE = 0
    try call.check(
      functions.pointee.C_OpenSession(
        slot.id, CK_FLAGS(CKF_SERIAL_SESSION), nil, nil, &session), "C_OpenSession")
    (self.functions, self.name, self.module) = (functions, name, module)
    (self.slot, self.session, flags) = (slot.id, session, slot.info.flags)
    identity = TokenIdentity(slot.info)
  }

  private static func slots(
    _ functions: UnsafeMutablePointer<CK_FUNCTION_LIST>, _ call: TokenCall
  ) throws -> [(id: CK_SLOT_ID, info: CK_TOKEN_INFO)] {
    var count: CK_ULONG = 0
    try call.check(functions.pointee.C_GetSlotList(1, nil, &count), "C_GetSlotList")
    var ids = [CK_SLOT_ID](repeating: 0, count: Int(count))
    try call.check(functions.pointee.C_GetSlotList(1, &ids, &count), "C_GetSlotList")
    return ids.prefix(Int(count)).compactMap { id in
      var info = CK_TOKEN_INFO()
      // A token that was removed meanwhile is not listed.
      return functions.pointee.C_GetTokenInfo(id, &info) == CKR_OK ? (id, info) : nil
    }
  }

  /// True if the token has counted wrong PINs since the last right one.
  var countsWrongPINs: Bool {
    var info = CK_TOKEN_INFO()
    guard functions.pointee.C_GetTokenInfo(slot, &info) == CKR_OK else { return false }
    return info.flags & CK_FLAGS(CKF_USER_PIN_COUNT_LOW) != 0
  }

  /// Logs in; all sessions of this process with the token are then logged in.
  func logIn(_ pin: ZeroingBytes) throws -> Login {
    let code = pin.withUnsafeBytes { bytes in
      let pointer = UnsafeMutablePointer(
        mutating: bytes.bindMemory(to: UInt8.self).baseAddress)
      return functions.pointee.C_Login(
        session, CK_USER_TYPE(CKU_USER), pointer, CK_ULONG(bytes.count))
    }
    switch code {
    case CK_RV(CKR_USER_ALREADY_LOGGED_IN): return .notNeeded
    case CK_RV(CKR_PIN_INCORRECT), CK_RV(CKR_PIN_INVALID), CK_RV(CKR_PIN_LEN_RANGE): return .wrong
    case CK_RV(CKR_PIN_LOCKED): return .locked
    default:
      try TokenCall(token: name.description, module: module).check(code, "C_Login")
      return .accepted
    }
  }

  /// The key of the URI in this session.
  func key(_ uri: TokenKeyURI) -> TokenKeySession {
    TokenKeySession(
      functions: functions, session: session, name: uri.key,
      call: TokenCall(token: name.description, module: module))
  }

  /// Ends the session. Its state does not matter any more.
  func close() { _ = functions.pointee.C_CloseSession(session) }
}

/// A token as its module describes it.
struct TokenIdentity: Hashable, Sendable {
  private let bytes: [UInt8]

  init(_ info: CK_TOKEN_INFO) {
    bytes = [
      withUnsafeBytes(of: info.serialNumber) { Array($0) },
      withUnsafeBytes(of: info.label) { Array($0) },
      withUnsafeBytes(of: info.manufacturerID) { Array($0) },
      withUnsafeBytes(of: info.model) { Array($0) },
    ].flatMap(\.self)
  }
}

/// Turns return values into errors.
struct TokenCall {
  let token: String
  let module: String

  private static let lost: Set<CK_RV> = [
    CK_RV(CKR_DEVICE_REMOVED), CK_RV(CKR_DEVICE_ERROR), CK_RV(CKR_SESSION_CLOSED),
    CK_RV(CKR_SESSION_HANDLE_INVALID), CK_RV(CKR_TOKEN_NOT_PRESENT),
    CK_RV(CKR_TOKEN_NOT_RECOGNIZED),
    CK_RV(CKR_KEY_HANDLE_INVALID), CK_RV(CKR_OBJECT_HANDLE_INVALID), CK_RV(CKR_USER_NOT_LOGGED_IN),
    CK_RV(CKR_CRYPTOKI_NOT_INITIALIZED),
  ]

  func check(_ code: CK_RV, _ function: String) throws {
    guard code != CK_RV(CKR_OK) else { return }
    throw Self.lost.contains(code)
      ? TokenKeyError.lost(token: token, function: function, code: code)
      : TokenKeyError.failed(module: module, function: function, code: code)
  }
}

extension TokenKeyURI.TokenName {
  /// Labels and serial numbers are padded with spaces.
  fileprivate func matches(_ info: CK_TOKEN_INFO) -> Bool {
    func text(_ bytes: some Any) -> String {
      let bytes = withUnsafeBytes(of: bytes) { Array($0) }
      return String(decoding: bytes.prefix { $0 != 0 }.trimmingSpaces, as: UTF8.self)
    }
    return (label.map { $0 == text(info.label) } ?? true)
      && (serial.map { $0 == text(info.serialNumber) } ?? true)
  }
}

extension ArraySlice<UInt8> {
  /// The bytes without spaces at the end.
  fileprivate var trimmingSpaces: ArraySlice<UInt8> {
    self[..<(lastIndex { $0 != UInt8(ascii: " ") }.map { $0 + 1 } ?? startIndex)]
  }
}
