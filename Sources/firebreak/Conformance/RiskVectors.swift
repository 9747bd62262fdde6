import ExposureApp
import Foundation

/// Exposure windows with the risk that one policy makes of them.
struct RiskVectors: Decodable {
  let policy: WindowRiskPolicy
  let cases: [RiskCase]

  private enum CodingKeys: String, CodingKey {
    case policy = "defaultRiskCalculationConfiguration"
    case cases = "testCases"
  }

  func outcomes() throws -> [CaseOutcome] {
    if let fault = policy.validationError {
      throw CommandFailure.badInput("\(CodingKeys.policy.rawValue): \(fault)")
    }
    return cases.map { $0.outcome(by: policy) }
  }
}
