#!/usr/bin/env node
import "@memfold/cli/main"
