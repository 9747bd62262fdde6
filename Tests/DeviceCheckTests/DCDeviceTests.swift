// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import DeviceCheck

@Suite("Device tokens")
struct DCDeviceTests {
  private let device = DCDevice()

  @Test("With a source both forms return a token")
  func token() async throws {
    device.install(TestTokenSource(result: .success(Data([1, 2, 3]))))
    #expect(device.isSupported)
    #expect(try await device.generateToken() == Data([1, 2, 3]))
    let token = await withCheckedContinuation { done in
      device.generateToken { token, error in done.resume(returning: error == nil ? token : nil) }
    }
    #expect(token == Data([1, 2, 3]))
  }

  @Test("Without a source the device is not supported")
  func unsupported() async {
    #expect(!device.isSupported)
    let error = await withCheckedContinuation { done in
      device.generateToken { _, error in done.resume(returning: error as? DCError) }
    }
    #expect(error?.code == .featureUnsupported)
    #expect(error?.localizedDescription.contains("install a DeviceTokenSource") == true)
  }

  @Test("A DCError of the source is passed on, any other error becomes unknownSystemFailure")
  func refusals() async {
    device.install(TestTokenSource(result: .failure(DCError(.serverUnavailable))))
    do {
      _ = try await device.generateToken()
      Issue.record("a token was returned")
    } catch DCError.serverUnavailable {
    } catch {
      Issue.record(error)
    }
    device.install(TestTokenSource(result: .failure(CancellationError())))
    await #expect(throws: DCError(.unknownSystemFailure)) {
      _ = try await device.generateToken()
    }
  }

  @Test("The error codes have Apple's numbers")
  func codes() {
    #expect(DCError.Code.allCases.map(\.rawValue) == [0, 1, 2, 3, 4])
    #expect((DCError(.invalidKey) as NSError).domain == "com.apple.devicecheck.error")
    #expect(DCErrorDomain == DCError.errorDomain)
  }

  @Test("Errors keep their values")
  func userInfo() {
    let values = [NSLocalizedDescriptionKey: "Own text"]
    let error = DCError(.invalidInput, userInfo: values)
    #expect(error.userInfo as? [String: String] == values && error != DCError(.invalidInput))
    #expect((error as any Error).localizedDescription == "Own text")
    #expect(error == DCError(.invalidInput, userInfo: values))
  }

  @Test("The device is an object, and each process has one")
  func object() {
    let object: NSObject = DCDevice.current
    #expect(object.isEqual(DCDevice.current) && !object.isEqual(device))
  }
}

/// A source that returns one token or throws one error.
struct TestTokenSource: DeviceTokenSource {
  let result: Result<Data, any Error>

  func token() async throws -> Data {
    try result.get()
  }
}
