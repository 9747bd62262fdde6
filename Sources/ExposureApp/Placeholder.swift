enum PlaceholderExposureApp {}
