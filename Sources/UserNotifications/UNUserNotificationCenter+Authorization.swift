import Dispatch
import Foundation

extension UNUserNotificationCenter {
  /// Asks the person, once; later calls get the first answer.
  ///
  /// - Throws: `UNError(.notificationsNotAllowed)` without a sink: there is nobody to ask.
  public func requestAuthorization(options: UNAuthorizationOptions = []) async throws -> Bool {
    guard let sink else { throw UNError(.notificationsNotAllowed) }
    if let allowed = sink.allowedOptions { return !allowed.isEmpty }
    return !(await sink.ask(for: options)).isEmpty
  }

  /// `requestAuthorization(options:)` with a handler, which is called on a queue of the system's.
  public func requestAuthorization(
    options: UNAuthorizationOptions = [],
    completionHandler: @escaping (Bool, (any Error)?) -> Void
  ) {
    let handler = Handoff(completionHandler)
    Task {
      let result: Result<Bool, any Error>
      do {
        result = .success(try await requestAuthorization(options: options))
      } catch {
        result = .failure(error)
      }
      DispatchQueue.global().async {
        switch result {
        case .success(let isGranted): handler.value(isGranted, nil)
        case .failure(let error): handler.value(false, error)
        }
      }
    }
  }

  /// What the person allows the app now. Never asks.
  public func notificationSettings() async -> UNNotificationSettings {
    settings
  }

  /// `notificationSettings()` with a handler, which is called on a queue of the system's.
  public func getNotificationSettings(
    completionHandler: @escaping (UNNotificationSettings) -> Void
  ) {
    let handler = Handoff(completionHandler)
    DispatchQueue.global().async { [self] in handler.value(settings) }
  }

  private var settings: UNNotificationSettings {
    guard let sink else { return UNNotificationSettings(status: .denied, allowed: []) }
    guard let allowed = sink.allowedOptions else {
      return UNNotificationSettings(status: .notDetermined, allowed: [])
    }
    let status: UNAuthorizationStatus =
      if allowed.isEmpty { .denied } else if allowed.contains(.provisional) { .provisional } else {
        .authorized
      }
    return UNNotificationSettings(status: status, allowed: allowed)
  }
}
