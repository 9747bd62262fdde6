import TestSupport
import Testing

@testable import ExposureNotification

/// Documentation/Framework.md 3.4.
@Suite struct TestKeysTests {
  let folder: TemporaryFolder
  let phone: TestPhone

  init() throws {
    folder = try TemporaryFolder()
    phone = TestPhone(in: folder.url)
  }

  @Test("With the test entitlement today's key comes in version 1 too, cut short and asked for")
  func today() async throws {
    var phone = phone
    phone.entitlements = [.exposureNotification, .test]
    let manager = try await phone.enabledManager()
    #expect(try await manager.diagnosisKeys().isEmpty)
    let sent = phone.radio.sent.count
    #expect(try await manager.testDiagnosisKeys().map(\.rollingPeriod) == [72])
    #expect(phone.radio.sent.count == sent + 1)
    #expect(phone.person.asked.suffix(2) == [.shareDiagnosisKeys, .shareDiagnosisKeys])
    phone.person.says(false)
    await #expect(throws: ENError(.notAuthorized)) { _ = try await manager.testDiagnosisKeys() }
  }

  @Test("Without it the person is not even asked")
  func notEntitled() async throws {
    let manager = try await phone.enabledManager()
    await #expect(throws: ENError(.notEntitled)) { _ = try await manager.testDiagnosisKeys() }
    #expect(phone.person.asked == [.enableExposureNotification])
  }
}
