// SPDX-License-Identifier: Apache-2.0
import CPKCS11
import Foundation
import Secrets
import Synchronization
import TextEncodings

/// A PKCS#11 module in this process, with one session for each token in use.
///
/// Calls wait for each other: a session is for one thread, and a signature takes milliseconds. A module that does not
/// return cannot be interrupted.
final class TokenModule: Sendable {
  /// The modules of this process. They are never unloaded, because a module may have threads.
  private static let modules = Mutex<[String: TokenModule]>([:])

  private let path: String
  private let state: Mutex<State>

  private struct State {
    let functions: UnsafeMutablePointer<CK_FUNCTION_LIST>
    var sessions: [TokenKeyURI.TokenName: OpenToken] = [:]
    /// PINs that a token refused.
    var refusedPINs: [TokenKeyURI.TokenName: ZeroingBytes] = [:]
  }

  /// The module in the file at `path`, which is loaded once.
  ///
  /// - Throws: `TokenKeyError.missingModule`, or `.failed` if it cannot be initialized.
  static func loaded(from path: String) throws -> TokenModule {
    try modules.withLock { modules in
      if let module = modules[path] { return module }
      let module = try TokenModule(path)
      modules[path] = module
      return module
    }
  }

  private init(_ path: String) throws {
    self.path = path
    guard path.hasPrefix("/") else {
      throw TokenKeyError.missingModule(path: path, reason: "module-path must be an absolute path")
    }
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
    nonisolated(unsafe) let functions = list
    try Self.initialize(functions, path)
    state = Mutex(State(functions: functions))
  }

  private static func initialize(
    _ functions: UnsafeMutablePointer<CK_FUNCTION_LIST>, _ path: String
  ) throws {
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
    try state.withLock { state in
      if let open = state.sessions[uri.token] {
        do {
          return try work(open.key(uri))
        } catch let error as TokenKeyError where error.mayBeLost {
          try restart(&state)
        }
      }
      let open = try open(uri, readPIN, &state)
      do {
        let result = try work(open.key(uri))
        state.sessions[uri.token] = open
        return result
      } catch {
        open.close()
        throw error
      }
    }
  }

  /// Initializes the module again: some modules look for tokens only then. The sessions of other tokens are opened
  /// again when they are used.
  private func restart(_ state: inout State) throws {
    state.sessions = [:]
    _ = state.functions.pointee.C_Finalize(nil)
    try Self.initialize(state.functions, path)
  }

  private func open(
    _ uri: TokenKeyURI, _ readPIN: TokenKey.PINReader, _ state: inout State
  ) throws -> OpenToken {
    let open: OpenToken
    do {
      open = try OpenToken(uri.token, of: state.functions, path)
    } catch let error as TokenKeyError where error.mayBeLost {
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
    guard state.refusedPINs[uri.token] != pin else {
      throw TokenKeyError.wrongPIN(token: token, file: file, isLow: open.countsWrongPINs)
    }
    switch try open.logIn(pin) {
    case .accepted: state.refusedPINs[uri.token] = nil
    case .locked: throw TokenKeyError.lockedPIN(token)
    case .wrong:
      state.refusedPINs[uri.token] = pin
      throw TokenKeyError.wrongPIN(token: token, file: file, isLow: open.countsWrongPINs)
    }
  }
}

extension TokenKeyError {
  /// True if a module that is initialized again may help.
  fileprivate var mayBeLost: Bool {
    switch self {
    case .lost, .failed, .missingToken, .missingKey, .missingPublicKey: true
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
