// SPDX-License-Identifier: Apache-2.0
import BackgroundTasks

/// Submits a refresh, and names the error if there is one.
func submitRefresh(_ identifier: String) -> String {
  do {
    try BGTaskScheduler.shared.submit(BGAppRefreshTaskRequest(identifier: identifier))
    return "submitted"
  } catch BGTaskScheduler.Error.unavailable {
    return "unavailable"
  } catch let error as BGTaskScheduler.Error where error.code == .notPermitted {
    return "not permitted"
  } catch {
    return (error as NSError).domain == BGTaskScheduler.errorDomain ? "another" : "unknown"
  }
}
