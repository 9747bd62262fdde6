// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import Testing

/// `ENError` in every form that apps use.
struct ENErrorTests {
  @Test("Codes have Apple's numbers under both names")
  func codes() {
    let codes: [ENError.Code] = [
      .unknown, .badParameter, .notEntitled, .notAuthorized, .unsupported, .invalidated,
      .bluetoothOff, .insufficientStorage, .notEnabled, .apiMisuse, .internal,
      .insufficientMemory, .rateLimited, .restricted, .badFormat, .dataInaccessible,
      .travelStatusNotAvailable,
    ]
    #expect(codes.map(\.rawValue) == Array(1...17))
    let statics: [ENError.Code] = [
      ENError.unknown, ENError.badParameter, ENError.notEntitled, ENError.notAuthorized,
      ENError.unsupported, ENError.invalidated, ENError.bluetoothOff,
      ENError.insufficientStorage, ENError.notEnabled, ENError.apiMisuse, ENError.internal,
      ENError.insufficientMemory, ENError.rateLimited, ENError.restricted, ENError.badFormat,
      ENError.dataInaccessible, ENError.travelStatusNotAvailable,
    ]
    #expect(statics == codes)
    #expect(ENError.notAuthorized.rawValue == 4)
    #expect(ENError.Code(rawValue: 18) == nil)
  }

  @Test("Errors can be created, cast, compared and described")
  func shape() throws {
    let error: Error = ENError(.notEnabled)
    let cast = try #require(error as? ENError)
    #expect(cast.code == .notEnabled && cast.errorCode == 9)
    #expect(ENError.errorDomain == ENErrorDomain)
    #expect(!error.localizedDescription.isEmpty)
    #expect(cast == ENError(.notEnabled) && cast != ENError(.restricted))
    #expect(Set([cast, ENError(.notEnabled)]).count == 1)
    let bridged = error as NSError
    #expect(bridged.domain == ENErrorDomain && bridged.code == 9)
    let described = ENError(.internal, userInfo: [NSLocalizedDescriptionKey: "A text of the app."])
    #expect(described.localizedDescription == "A text of the app.")
    #expect((described as Error).localizedDescription == "A text of the app.")
    #expect(described.errorUserInfo[NSLocalizedDescriptionKey] as? String == "A text of the app.")
    #expect(ENError(.unknown, userInfo: [:]).code == .unknown)
  }

  @Test("Errors can be caught by code and distinguished by a switch")
  func patterns() {
    func caught(_ error: Error) -> String {
      do {
        throw error
      } catch ENError.notAuthorized {
        return "not authorized"
      } catch let error as ENError where error.code == .rateLimited {
        return "rate limited"
      } catch let error as ENError {
        switch error.code {
        case .unsupported: return "unsupported"
        default: return "\(error.errorCode)"
        }
      } catch {
        return "another"
      }
    }
    #expect(caught(ENError(.notAuthorized)) == "not authorized")
    #expect(caught(ENError(.rateLimited)) == "rate limited")
    #expect(caught(ENError(.unsupported)) == "unsupported")
    #expect(caught(ENError(.badFormat)) == "15")
    #expect(caught(CocoaError(.userCancelled)) == "another")
  }

  @Test("The optional error of a handler has a code")
  func handler() {
    let handler: (Error?) -> Int? = { error in
      if let error = error as? ENError, error.code == .bluetoothOff { return error.code.rawValue }
      return nil
    }
    #expect(handler(ENError(.bluetoothOff)) == 7)
    #expect(handler(nil) == nil)
  }
}
