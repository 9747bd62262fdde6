// SPDX-License-Identifier: Apache-2.0
import CPKCS11
import Foundation
import Secrets
import Synchronization
import TextEncodings

/// A PKCS#11 module in this process, with one session for each token in use.
///
/// Calls of one module wait for each other: a session is for one thread, and a signature takes milliseconds. A module
/// that does not return cannot be interrupted.
final class TokenModule: Sendable {
  /// The modules of this process by their paths. They are never unloaded, because a module may have threads.
  private static let modules = Mutex<[String: TokenModule]>([:])

  private let path: String
  /// Nil until the module is loaded.
  private let state = Mutex<State?>(nil)

  private struct State: Sendable {
    // The table of the module, which is constant.
    nonisolated(unsafe) let functions: UnsafeMutablePointer<CK_FUNCTION_LIST>
    var sessions: [TokenKeyURI.TokenName: Session] = [:]
    /// PINs that a token refused since it last accepted one.
    var refusedPINs: [TokenIdentity: [ZeroingBytes]] = [:]
  }

  private struct Session: Sendable {
    let token: OpenToken
    /// The keys that were used in it.
    var keys: Set<TokenKeyURI.KeyName> = []
  }

  /// The module in the file at `path`. It is loaded when it is first used, so that one that hangs stops no other.
  static func at(_ path: String) -> TokenModule {
    modules.withLock { modules in
      if let module = modules[path] { return module }
      let module = TokenModule(path)
      modules[path] = module
      return module
    }
  }

  private init(_ path: String) { self.path = path }

  /// Loads and initializes the module.
  ///
  /// - Throws: `TokenKeyError.missingModule`, or `.failed` if it cannot be initialized.
  private func load() throws -> State {
    guard let library = dlopen(path, RTLD_NOW | RTLD_LOCAL) else {
      throw TokenKeyError.missingModule(path: path, reason: String(cString: dlerror()))
    }
    typealias GetFunctionList =
      @convention(c) (UnsafeMutablePointer<UnsafeMutablePointer<CK_FUNCTION_LIST>?>?) -> CK_RV
    var list: UnsafeMutablePointer<CK_FUNCTION_LIST>?
    guard let symbol = dlsym(library, "C_GetFunctionList"),
      unsafeBitCast(symbol, to: GetFunctionList.self)(&list) == CKR_OK, let list
    else {
      dlclose(library)
      throw TokenKeyError.missingModule(path: path, reason: "it is not a PKCS#11 module")
    }
    try initialize(list)
    return State(functions: list)
  }

  private func initialize(_ functions: UnsafeMutablePointer<CK_FUNCTION_LIST>) throws {
    var arguments = CK_C_INITIALIZE_ARGS()
    arguments.flags = CK_FLAGS(CKF_OS_LOCKING_OK)
    let code = functions.pointee.C_Initialize(&arguments)
    guard [CK_RV(CKR_OK), CK_RV(CKR_CRYPTOKI_ALREADY_INITIALIZED)].contains(code) else {
      throw TokenKeyError.failed(module: path, function: "C_Initialize", code: code)
    }
  }

  /// Runs `work` on the key, with a session that is logged in. If the session has ended, it is opened again, once.
  func withSession<Result: Sendable>(
    for uri: TokenKeyURI, _ readPIN: TokenKey.PINReader, _ work: (TokenKeySession) throws -> Result
  ) throws -> Result {
    try state.withLock { loaded in
      var state = try loaded ?? load()
      defer { loaded = state }
      let earlier = state.sessions[uri.token]
      if let earlier {
        do {
          return try use(earlier, for: uri, &state, work)
        } catch let error as TokenKeyError where error.mayEndWithSession {
          earlier.token.close()
          state.sessions[uri.token] = nil
        }
      }
      do {
        return try openAndUse(uri, readPIN, &state, work)
      } catch let error as TokenKeyError
        where error.mayEndWithModule && earlier?.keys.contains(uri.key) == true
      {
        // The key was there before, so the module may not have noticed that the token is back.
        try restart(&state)
        return try openAndUse(uri, readPIN, &state, work)
      }
    }
  }

  private func openAndUse<Result: Sendable>(
    _ uri: TokenKeyURI, _ readPIN: TokenKey.PINReader, _ state: inout State,
    _ work: (TokenKeySession) throws -> Result
  ) throws -> Result {
    let open = try open(uri, readPIN, &state)
    do {
      return try use(Session(token: open), for: uri, &state, work)
    } catch {
      open.close()
      throw error
    }
  }

  /// Runs `work` in a session, which is kept if the work succeeds.
  private func use<Result: Sendable>(
    _ session: Session, for uri: TokenKeyURI, _ state: inout State,
    _ work: (TokenKeySession) throws -> Result
  ) throws -> Result {
    let result = try work(session.token.key(uri))
    var used = session
    used.keys.insert(uri.key)
    state.sessions[uri.token] = used
    return result
  }

  /// Initializes the module again: some modules look for tokens only then. The sessions of other tokens are opened
  /// again when they are used.
  private func restart(_ state: inout State) throws {
    state.sessions = [:]
    _ = state.functions.pointee.C_Finalize(nil)
    try initialize(state.functions)
  }

  private func open(
    _ uri: TokenKeyURI, _ readPIN: TokenKey.PINReader, _ state: inout State
  ) throws -> OpenToken {
    let open: OpenToken
    do {
      open = try OpenToken(uri.token, of: state.functions, path)
    } catch let error as TokenKeyError where error.isOfMachine {
      try restart(&state)
      open = try OpenToken(uri.token, of: state.functions, path)
    }
    do {
      try logIn(open, uri, readPIN, &state)
      return open
    } catch {
      open.close()
      throw error
    }
  }

  /// A wrong PIN is tried once: the token counts it, and locks itself after a few.
  private func logIn(
    _ open: OpenToken, _ uri: TokenKeyURI, _ readPIN: TokenKey.PINReader, _ state: inout State
  ) throws {
    guard open.flags & CK_FLAGS(CKF_LOGIN_REQUIRED) != 0 else { return }
    let token = uri.token.description
    guard let file = uri.pinFile else { throw TokenKeyError.missingPIN(token) }
    guard open.flags & CK_FLAGS(CKF_USER_PIN_LOCKED) == 0 else {
      throw TokenKeyError.lockedPIN(token)
    }
    guard open.flags & CK_FLAGS(CKF_USER_PIN_FINAL_TRY) == 0 else {
      throw TokenKeyError.lastTry(token)
    }
    var typed = Array(try readPIN(file).utf8)
    let pin = ZeroingBytes(moving: &typed)
    let refused = state.refusedPINs[open.identity] ?? []
    guard !refused.contains(where: { $0 == pin }) else {
      throw TokenKeyError.wrongPIN(token: token, file: file, isLow: open.countsWrongPINs)
    }
    switch try open.logIn(pin) {
    case .accepted: state.refusedPINs[open.identity] = nil
    case .notNeeded: break
    case .locked: throw TokenKeyError.lockedPIN(token)
    case .wrong:
      state.refusedPINs[open.identity] = refused + [pin]
      throw TokenKeyError.wrongPIN(token: token, file: file, isLow: open.countsWrongPINs)
    }
  }
}

extension TokenKeyError {
  /// True if the key may be found in another session.
  fileprivate var mayEndWithSession: Bool {
    switch self {
    case .lost, .failed, .missingKey, .missingPublicKey: true
    default: false
    }
  }

  /// True if a module that is initialized again may find the key.
  fileprivate var mayEndWithModule: Bool {
    switch self {
    case .lost, .missingKey, .missingPublicKey: true
    default: false
    }
  }
}

extension TokenKeyURI.TokenName: CustomStringConvertible {
  var description: String {
    [label, serial.map { "with the serial number \($0)" }].compactMap(\.self).joined(separator: " ")
  }
}

extension TokenKeyURI.KeyName: CustomStringConvertible {
  var description: String {
    let id = id.map { "with the id " + $0.hexadecimal }
    return [label, id].compactMap(\.self).joined(separator: " ")
  }
}
