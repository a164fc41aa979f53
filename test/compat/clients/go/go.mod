module frazil/compat

go 1.26

require github.com/twmb/franz-go v1.22.3
