import Foundation
import KeyServerAPI
import Testing

@Suite("Seed 2.2: the form of an upload")
struct WireFormTests {
  private let seedForm = """
    {"data":{"temporaryExposureKeys":[{"key":"z2Cx9hdz2SlxZ8GEgqTYpA==","rollingPeriod":144,
     "rollingStartNumber":2666440,"transmissionRisk":8}],"regions":["PL"],"platform":"ios",
     "appPackageName":"pl.gov.mc.protegosafe","verificationPayload":"secret-token"},
     "isInteroperabilityEnabled":true}
    """

  @Test("The seed's form is read, with fields it does not know and without those it may leave out")
  func seedFormIsRead() throws {
    let request = try JSONDecoder().decode(UploadRequest.self, from: Data(seedForm.utf8))
    #expect(request.data.temporaryExposureKeys.map(\.rollingStartNumber) == [2_666_440])
    #expect(request.data.verificationPayload == "secret-token")
    #expect(request.data.hmackey == nil)
    #expect(request.isInteroperabilityEnabled == true)
    let callable = seedForm.replacingOccurrences(
      of: #""isInteroperabilityEnabled":true"#, with: #""somethingNew":1,"padding":"AAAA""#)
    let other = try JSONDecoder().decode(UploadRequest.self, from: Data(callable.utf8))
    #expect(other.isInteroperabilityEnabled == nil)
    #expect(other.data == request.data)
  }

  @Test("The answer is the seed's")
  func answer() throws {
    let json = try JSONEncoder().encode(UploadAnswer.accepted)
    #expect(String(decoding: json, as: UTF8.self) == #"{"result":""}"#)
  }

  @Test("Neither a key nor a token can be printed")
  func secretsCannotSpeak() throws {
    let request = try JSONDecoder().decode(UploadRequest.self, from: Data(seedForm.utf8))
    let proof = DeviceVerificationPayload(
      deviceToken: Data("secret-token".utf8), transactionID: "z2Cx", timestampMilliseconds: 1)
    for value in [request, request.data, request.data.temporaryExposureKeys, proof] as [Any] {
      var text = "\(value) \(String(reflecting: value))"
      dump(value, to: &text)
      #expect(!text.contains("z2Cx"))
      #expect(!text.contains("secret-token"))
    }
  }
}
