package main

// restrictFiles does nothing: on windows the per-user data folder's access list is inherited.
func restrictFiles() {}
