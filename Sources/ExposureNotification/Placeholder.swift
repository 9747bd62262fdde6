enum PlaceholderExposureNotification {}
