// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import ExposureApp

@Suite("Responses to uploads, and used PINs") struct UploadResponseTests {
  private let tests = UploadTests()

  @Test(
    "A response that is not in the contract's form ends nothing: the same PIN shares the keys afterwards",
    arguments: [TestApp.tokenPath, TestApp.uploadPath],
    [
      (200, "<html>Sign in</html>"), (200, ""), (200, "[]"), (200, #"{"login":"needed"}"#),
      (200, #"{"error":{"message":"","status":"NOT_FOUND"}}"#), (400, "<html></html>"), (401, ""),
      (403, "<html></html>"), (404, "<html></html>"), (404, #"{"error":"no route"}"#),
      (404, #"{"error":{"status":"NOT_FOUND"}}"#), (404, #"{"error":{"message":"","status":"x"}}"#),
      (413, ""), (415, "{}"), (500, #"{"error":{"message":"","status":"NOT_FOUND"}}"#),
    ])
  func foreignResponse(path: String, response: (status: Int, body: String)) async throws {
    let (phone, app) = try await tests.readyPhone()
    phone.network.script(path, .response(response.status, Data(response.body.utf8)))
    #expect(await tests.upload(app).reason == .serverBusy(retryAfterSeconds: nil))
    #expect(await app.store.state.refusedPINs.isEmpty)
    #expect(await app.hasPendingUpload)
    phone.network.script(TestApp.tokenPath, .text(UploadTests.token))
    phone.network.script(TestApp.uploadPath, .text(#"{"padding":"x","result":""}"#))
    #expect(await tests.upload(app) == .success)
    #expect(phone.script.state.keyRequestCount == 1)
  }

  @Test("The PIN of a complete upload is refused as used on the next day, without a request")
  func usedPIN() async throws {
    let (phone, app) = try await tests.readyPhone()
    #expect(await tests.upload(app) == .success)
    let count = phone.network.requests.count
    phone.clock.advance(by: TestApp.day / 2 - 1)
    #expect(await tests.upload(app) == .success)
    phone.clock.advance(by: 1)
    for _ in 1...2 {
      #expect(
        await tests.upload(try phone.launch()) == UploadOutcome(result: .canceled, reason: .pinUsed)
      )
    }
    #expect(phone.network.requests.count == count)
  }
}
