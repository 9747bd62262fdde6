import ExposureNotification
import Foundation

/// One check: which files are new, download, criteria, detection, exposures.
///
/// One step begins when the last one has ended, all on the main queue, and it ends exactly once: with
/// the first error, or when it is cancelled, nothing further is begun.
final class Detection {
  /// What a check has found.
  struct Found {
    let exposures: [Exposure]
    let nextKeyFile: Int
  }

  let progress = Progress()
  private let manager: ENManager
  private let authority: HealthAuthority
  private let firstKeyFile: Int
  private var files: [URL] = []
  private var inFramework: Progress?
  private var completion: ((Result<Found, Error>) -> Void)?

  init(manager: ENManager, authority: HealthAuthority, from firstKeyFile: Int) {
    self.manager = manager
    self.authority = authority
    self.firstKeyFile = firstKeyFile
  }

  func run(completion: @escaping (Result<Found, Error>) -> Void) {
    self.completion = completion
    progress.cancellationHandler = { DispatchQueue.main.async { self.cancel() } }
    authority.keyFiles(from: firstKeyFile) { self.goOn($0) { self.download($0[...], of: $0) } }
  }

  /// Downloads the files of `left` one after another.
  private func download(_ left: ArraySlice<Int>, of all: [Int]) {
    guard let number = left.first else { return getCriteria(nextKeyFile: all.last.map { $0 + 1 }) }
    authority.download(keyFile: number) { result in
      // Also a file that comes after the end is deleted.
      if case .success(let file) = result { self.files.append(file) }
      if self.completion == nil { self.deleteFiles() }
      self.goOn(result) { _ in self.download(left.dropFirst(), of: all) }
    }
  }

  private func getCriteria(nextKeyFile: Int?) {
    authority.criteria { result in
      self.goOn(result) {
        self.detect($0.configuration, nextKeyFile: nextKeyFile ?? self.firstKeyFile)
      }
    }
  }

  private func detect(_ configuration: ENExposureConfiguration, nextKeyFile: Int) {
    inFramework = manager.detectExposures(
      configuration: configuration, diagnosisKeyURLs: files
    ) { summary, error in
      self.goOn(self.result(summary, error)) { summary in
        guard summary.matchedKeyCount > 0 else {
          return self.finish(.success(Found(exposures: [], nextKeyFile: nextKeyFile)))
        }
        self.getInfo(summary, nextKeyFile: nextKeyFile)
      }
    }
  }

  private func getInfo(_ summary: ENExposureDetectionSummary, nextKeyFile: Int) {
    inFramework = manager.getExposureInfo(
      summary: summary, userExplanation: Words.whyExposuresAreRead
    ) { infos, error in
      self.goOn(self.result(infos, error)) { infos in
        let exposures = infos.map {
          Exposure(
            date: $0.date, duration: $0.duration, totalRiskScore: $0.totalRiskScore,
            transmissionRiskLevel: $0.transmissionRiskLevel)
        }
        self.finish(.success(Found(exposures: exposures, nextKeyFile: nextKeyFile)))
      }
    }
  }

  private func result<Value>(_ value: Value?, _ error: Error?) -> Result<Value, Error> {
    value.map(Result.success) ?? .failure(error ?? ENError(.unknown))
  }

  /// Takes the next step with what the last one has given, unless that was an error.
  private func goOn<Value>(_ result: Result<Value, Error>, _ step: (Value) -> Void) {
    guard completion != nil else { return }
    switch result {
    case .success(let value): step(value)
    case .failure(let error): finish(.failure(error))
    }
  }

  private func cancel() {
    inFramework?.cancel()
    finish(.failure(CancellationError()))
  }

  private func finish(_ result: Result<Found, Error>) {
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
