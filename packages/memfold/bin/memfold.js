#!/usr/bin/env node
import "../dist/bin/memfold.js"
