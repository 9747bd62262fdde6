// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation

/// One check: list and download new files, get the criteria, detect, and read the exposures.
///
/// The steps run one after another on the main queue. The check ends exactly once: at the end, with the
/// first error, or when it is cancelled.
final class Detection {
  /// The result of a check.
  struct Outcome {
    let exposures: [Exposure]
    let nextKeyFile: Int
  }

  let progress = Progress()
  private let manager: ENManager
  private let authority: HealthAuthority
  private let firstKeyFile: Int
  private var files: [URL] = []
  private var operation: Progress?
  private var completion: ((Result<Outcome, Error>) -> Void)?

  init(manager: ENManager, authority: HealthAuthority, from firstKeyFile: Int) {
    self.manager = manager
    self.authority = authority
    self.firstKeyFile = firstKeyFile
  }

  func run(completion: @escaping (Result<Outcome, Error>) -> Void) {
    self.completion = completion
    progress.cancellationHandler = { DispatchQueue.main.async { self.cancel() } }
    authority.keyFiles(from: firstKeyFile) { self.proceed($0) { self.download($0[...], of: $0) } }
  }

  /// Downloads files one after another.
  private func download(_ left: ArraySlice<Int>, of all: [Int]) {
    guard let number = left.first else { return getCriteria(nextKeyFile: all.last.map { $0 + 1 }) }
    authority.download(keyFile: number) { result in
      // A file that arrives after the end is deleted too.
      if case .success(let file) = result { self.files.append(file) }
      if self.completion == nil { self.deleteFiles() }
      self.proceed(result) { _ in self.download(left.dropFirst(), of: all) }
    }
  }

  private func getCriteria(nextKeyFile: Int?) {
    authority.criteria { result in
      self.proceed(result) {
        self.detect($0.configuration, nextKeyFile: nextKeyFile ?? self.firstKeyFile)
      }
    }
  }

  private func detect(_ configuration: ENExposureConfiguration, nextKeyFile: Int) {
    operation = manager.detectExposures(
      configuration: configuration, diagnosisKeyURLs: files
    ) { summary, error in
      self.proceed(self.result(summary, error)) { summary in
        guard summary.matchedKeyCount > 0 else {
          return self.finish(.success(Outcome(exposures: [], nextKeyFile: nextKeyFile)))
        }
        self.getInfo(summary, nextKeyFile: nextKeyFile)
      }
    }
  }

  private func getInfo(_ summary: ENExposureDetectionSummary, nextKeyFile: Int) {
    operation = manager.getExposureInfo(
      summary: summary, userExplanation: Texts.whyExposuresAreRead
    ) { infos, error in
      self.proceed(self.result(infos, error)) { infos in
        let exposures = infos.map {
          Exposure(
            date: $0.date, duration: $0.duration, totalRiskScore: $0.totalRiskScore,
            transmissionRiskLevel: $0.transmissionRiskLevel)
        }
        self.finish(.success(Outcome(exposures: exposures, nextKeyFile: nextKeyFile)))
      }
    }
  }

  private func result<Value>(_ value: Value?, _ error: Error?) -> Result<Value, Error> {
    value.map(Result.success) ?? .failure(error ?? ENError(.unknown))
  }

  /// Runs the next step with the result of the last one, or ends the check with its error.
  private func proceed<Value>(_ result: Result<Value, Error>, _ step: (Value) -> Void) {
    guard completion != nil else { return }
    switch result {
    case .success(let value): step(value)
    case .failure(let error): finish(.failure(error))
    }
  }

  private func cancel() {
    operation?.cancel()
    finish(.failure(CancellationError()))
  }

  private func finish(_ result: Result<Outcome, Error>) {
    guard let completion else { return }
    self.completion = nil
    progress.cancellationHandler = nil
    deleteFiles()
    completion(result)
  }

  private func deleteFiles() {
    for file in files { try? FileManager.default.removeItem(at: file) }
    files = []
  }
}
