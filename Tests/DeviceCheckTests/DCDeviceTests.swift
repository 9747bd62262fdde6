import Foundation
import Testing

@testable import DeviceCheck

@Suite("DeviceCheck: a token from whoever vouches for the device")
struct DCDeviceTests {
  private let device = DCDevice()

  @Test("A device that somebody vouches for has tokens, awaited or with a handler")
  func token() async throws {
    device.install(TokenDesk(result: .success(Data([1, 2, 3]))))
    #expect(device.isSupported)
    #expect(try await device.generateToken() == Data([1, 2, 3]))
    let token = await withCheckedContinuation { done in
      device.generateToken { token, error in done.resume(returning: error == nil ? token : nil) }
    }
    #expect(token == Data([1, 2, 3]))
  }

  @Test("Without a source the device is not supported and says what to do")
  func unsupported() async {
    #expect(!device.isSupported)
    let error = await withCheckedContinuation { done in
      device.generateToken { _, error in done.resume(returning: error as? DCError) }
    }
    #expect(error?.code == .featureUnsupported)
    #expect(error?.localizedDescription.contains("install a DeviceTokenSource") == true)
  }

  @Test("The source's own refusal is passed on, any other becomes unknownSystemFailure")
  func refusals() async {
    device.install(TokenDesk(result: .failure(DCError(.serverUnavailable))))
    do {
      _ = try await device.generateToken()
      Issue.record("a token")
    } catch DCError.serverUnavailable {
    } catch {
      Issue.record(error)
    }
    device.install(TokenDesk(result: .failure(CancellationError())))
    await #expect(throws: DCError(.unknownSystemFailure)) {
      _ = try await device.generateToken()
    }
  }

  @Test("The error codes are Apple's")
  func codes() {
    #expect(DCError.Code.allCases.map(\.rawValue) == [0, 1, 2, 3, 4])
    #expect((DCError(.invalidKey) as NSError).domain == "com.apple.devicecheck.error")
  }
}
