// SPDX-License-Identifier: Apache-2.0
import Foundation
import NIOCore
import Testing

@testable import QuietHTTP

@Suite("Causes of errors")
struct ErrorCauseTests {
  private struct Quoting: Error, CustomStringConvertible {
    let description = "the body was secret"
  }

  private enum Refusal: Error {
    case tooLate
    case because(String)
  }

  private struct Known: LoggableError {
    let logText = "no key is valid now"
  }

  @Test("Errors of the system have their code and message")
  func system() {
    let full = "No space left on device (errno 28)"
    #expect(ErrorCause.text(POSIXError(.ENOSPC)) == full)
    #expect(ErrorCause.text(IOError(errnoCode: ENOSPC, reason: "secret")) == full)
    let file = CocoaError(
      .fileWriteOutOfSpace,
      userInfo: [NSFilePathErrorKey: "/data/a.zip", NSUnderlyingErrorKey: POSIXError(.ENOSPC)])
    #expect(ErrorCause.text(file) == full + ": /data/a.zip")
    let missing = #expect(throws: CocoaError.self) {
      try Data(contentsOf: URL(fileURLWithPath: "/none"))
    }
    #expect(missing.map(ErrorCause.text) == "No such file or directory (errno 2): /none")
  }

  @Test("Of other errors only the type and a case without content are named")
  func other() {
    #expect(ErrorCause.text(Quoting()) == "Quoting")
    #expect(ErrorCause.text(Refusal.tooLate) == "Refusal: tooLate")
    #expect(ErrorCause.text(Refusal.because("secret")) == "Refusal")
    #expect(ErrorCause.text(Known()) == "no key is valid now")
  }
}
