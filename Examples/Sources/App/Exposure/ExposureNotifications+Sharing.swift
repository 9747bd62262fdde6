import ExposureNotification
import Foundation

extension ExposureNotifications {
  /// Shares the person's keys with everybody, on the strength of `test`; the person is asked.
  public func shareKeys(for test: TestResult, completion: @escaping (Error?) -> Void) {
    manager.getDiagnosisKeys { [self] keys, error in
      guard let keys else { return completion(error ?? ENError(.unknown)) }
      post(keys, for: test, completion: completion)
    }
  }

  func post(
    _ keys: [ENTemporaryExposureKey], for test: TestResult, completion: @escaping (Error?) -> Void
  ) {
    for key in keys { key.transmissionRiskLevel = Self.riskLevel(of: key, for: test) }
    authority.post(keys.map(PublishedKey.init), code: test.code, completion: completion)
  }

  /// The nearer a day is to the test, the more infectious the person was.
  static func riskLevel(of key: ENTemporaryExposureKey, for test: TestResult) -> ENRiskLevel {
    let day = Date(timeIntervalSince1970: Double(key.rollingStartNumber) * 600)
    switch abs(day.timeIntervalSince(test.dateAdministered)) / 86_400 {
    case ..<3: return 6
    case ..<6: return 4
    default: return 2
    }
  }
}
